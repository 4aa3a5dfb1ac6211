// A service that is killed at any moment of a payment or a refund: paid money is granted once and refunded once.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshStorage, onEachEngine } from './support/engines.ts'
import { startWechatpay } from './support/fake-payments.ts'
import { admin, freePort, spawnService } from './support/service.ts'
import { until } from './support/until.ts'

onEachEngine('payments after kill -9', (engine) => {
  it('are granted once and refunded once, with two processes and notifications at the same moment', async () => {
    await using fake = await startWechatpay()
    const storage = await freshStorage(engine)
    const ports = [await freePort(), await freePort()]
    const settings = {
      ...fake.settings,
      ...storage.environment,
      PAYMENTS: 'wechatpay',
      PAYMENT_POLL_S: '1,2,3,600',
      GATEWAY_TIMEOUT_MS: '1000',
      SAMPLE_ACCOUNT: 'off',
    }
    const start = (index: number) =>
      spawnService({
        ...settings,
        PORT: String(ports[index]),
        PUBLIC_URL: `http://127.0.0.1:${ports[index]}`,
      })
    // oxlint-disable-next-line typescript/no-explicit-any -- commands print different shapes
    const run = async (...words: string[]): Promise<any> => {
      const result = await admin(settings, ...words, '--json')
      assert.equal(result.code, 0, result.stderr)
      return JSON.parse(result.stdout)
    }
    const services = [await start(0), await start(1)]
    await run('account', 'create', 'acme')
    await run('package', 'add', 'p1', '--name', 'A', '--credits', 'sms=10', '--price', '1.00')
    const numbers: string[] = []
    for (let index = 0; index < 6; index += 1) {
      numbers.push((await run('order', 'create', 'acme', 'p1', '--pay', 'wechatpay')).number)
    }
    const notify = (number: string) =>
      Promise.allSettled(
        services.map(({ url }) => fake.post(`${url}/payments/notify/wechatpay`, fake.notify(number))),
      )
    // Every order is notified at both processes, and one of them is killed while it works.
    for (const [index, number] of numbers.entries()) {
      fake.pay(number)
      const sent = notify(number)
      if (index % 3 === 0) {
        await services[0]!.kill('SIGKILL')
        await sent
        services[0] = await start(0)
      }
      await sent
    }
    const states = async () => {
      const { orders } = await run('order', 'list')
      return (orders as { state: string }[]).map(({ state }) => state)
    }
    await until(async () => (await states()).every((state) => state === 'granted'), 60_000)
    const left = async () => (await run('credits', 'show', 'acme')).credits.find(isSms).remaining as number
    assert.equal(await left(), 60)

    // The provider refunds and the answer is lost; then everything is killed.
    fake.fault = 'silent_refund'
    for (const number of numbers.slice(0, 3)) await run('order', 'refund', number, '--note', 'crash')
    for (const service of services) await service.kill('SIGKILL')
    fake.fault = 'none'
    services[1] = await start(1)
    await until(async () => (await states()).filter((state) => state === 'refunded').length === 3, 60_000)
    for (const number of numbers.slice(0, 3)) {
      assert.deepEqual([...fake.trades.get(number)!.refunds.values()], [100])
    }
    assert.equal(await left(), 30)
    assert.equal((await run('ledger', 'check')).ok, true)
    assert.deepEqual(fake.problems, [])
    await services[1].kill('SIGTERM')
    await storage.remove()
  })
})

const isSms = (balance: { api_type: string }) => balance.api_type === 'sms'
