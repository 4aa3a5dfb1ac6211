// kill -9 at each step of an order and of a refund, notifications and queries at the same moment in two processes, and a
// refund while the credits are being used: money paid is granted once, refunded once, or waits visibly.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { it } from 'node:test'
import { freshStorage, onEachEngine } from './support/engines.ts'
import { startWechatpay } from './support/fake-wechatpay.ts'
import { root } from './support/root.ts'
import { admin, post, type ServiceProcess, spawnService } from './support/service.ts'
import { until } from './support/until.ts'

const waitMs = 120_000

onEachEngine('each step of a payment', (engine) => {
  it('survives kill -9, and two processes that learn of a payment at the same moment', async () => {
    await using fake = await startWechatpay()
    const storage = await freshStorage(engine)
    const settings = {
      ...fake.settings,
      ...storage.environment,
      PAYMENTS: 'wechatpay',
      PAYMENT_POLL_S: '1,2,4,8,600',
      // Short, because a killed process keeps its lease for three calls.
      GATEWAY_TIMEOUT_MS: '2000',
      SAMPLE_ACCOUNT: 'off',
    }
    // oxlint-disable-next-line typescript/no-explicit-any -- commands print different shapes
    const run = async (...words: string[]): Promise<any> => {
      const result = await admin(settings, ...words, '--json')
      assert.equal(result.code, 0, result.stderr)
      return JSON.parse(result.stdout)
    }
    const db = storage.open()
    const stateOf = async (number: string) =>
      (await db.one<{ state: string }>('SELECT state FROM payment_order WHERE number = ?', [number]))?.state
    const order = async () =>
      (await run('order', 'create', 'acme', 'p1', '--pay', 'wechatpay')).number as string
    const grants = async (number: string) =>
      ((await run('ledger', 'list', 'acme')).rows as { note: string; kind: string }[]).filter(
        (row) => row.note === number && row.kind === 'grant',
      ).length
    const notify = ({ url }: ServiceProcess, number: string) =>
      fake.post(`${url}/payments/notify/wechatpay`, fake.notify(number)).catch(() => undefined)

    /** Runs a command in a process of its own and kills it as soon as the provider has its call. */
    async function killWhen(condition: () => boolean, ...words: string[]): Promise<void> {
      const child = spawn(process.execPath, ['start.js', 'cli/admin.ts', ...words], {
        cwd: root,
        env: { PATH: process.env['PATH'], ...settings },
        stdio: 'ignore',
      })
      await until(condition, waitMs)
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }

    async function killWhileHeld(call: RegExp, ...words: string[]): Promise<void> {
      const earlier = fake.held
      fake.hold = call
      await killWhen(() => fake.held > earlier, ...words)
      fake.hold = undefined
    }

    await run('account', 'create', 'acme')
    const { api_key: key } = await run('key', 'reset', 'acme')
    await run('package', 'add', 'p1', '--name', 'A', '--credits', 'short_link=20', '--price', '2.00')

    // Created, and killed before the provider answered: nothing can be paid, and the order is listed.
    await killWhileHeld(/native$/, 'order', 'create', 'acme', 'p1', '--pay', 'wechatpay')
    const [lost] = (await run('order', 'list')).orders as { number: string; state: string }[]
    assert.equal(lost?.state, 'pending')

    // Notified, and killed while our own query is on its way: granted by the next process, once.
    let first = await spawnService(settings)
    const second = await spawnService(settings)
    const beforeCommit = await order()
    fake.pay(beforeCommit)
    const earlier = fake.held
    fake.hold = new RegExp(`^GET .*${beforeCommit}`)
    const sent = [notify(first, beforeCommit), notify(second, beforeCommit)]
    await until(() => fake.held > earlier, waitMs)
    await first.kill('SIGKILL')
    fake.hold = undefined
    fake.release()
    await Promise.all(sent)
    await until(async () => (await stateOf(beforeCommit)) === 'granted', waitMs)
    first = await spawnService(settings)

    // Two notifications and the polls of two processes at the same moment; killed right after the answer.
    const afterCommit = await order()
    fake.pay(afterCommit)
    await Promise.all([first, second, first, second].map((service) => notify(service, afterCommit)))
    await first.kill('SIGKILL')
    first = await spawnService(settings)
    await notify(first, afterCommit)
    await until(async () => (await stateOf(afterCommit)) === 'granted', waitMs)
    for (const number of [beforeCommit, afterCommit]) assert.equal(await grants(number), 1)

    // A refund that is killed before the provider has it, and one after the provider did it: each is done once.
    const refundsOf = (number: string) => [...fake.trades.get(number)!.refunds.values()]
    const note = ['--note', 'crash']
    await killWhileHeld(/^POST .*refunds$/, 'order', 'refund', beforeCommit, '--amount', '1.00', ...note)
    assert.deepEqual(refundsOf(beforeCommit), [])
    fake.fault = 'silent_refund'
    await killWhen(() => refundsOf(afterCommit).length > 0, 'order', 'refund', afterCommit, ...note)
    fake.fault = 'none'
    await until(async () => (await stateOf(beforeCommit)) === 'partly_refunded', waitMs)
    await until(async () => (await stateOf(afterCommit)) === 'refunded', waitMs)
    assert.deepEqual([refundsOf(beforeCommit), refundsOf(afterCommit)], [[100], [200]])
    const left = async () =>
      ((await run('credits', 'show', 'acme')).credits as { api_type: string; remaining: number }[]).find(
        (one) => one.api_type === 'short_link',
      )!.remaining
    assert.equal(await left(), 10)

    // A refund of 20 of 30 credits while 40 calls use them: it takes all of them back or none.
    const used = await order()
    fake.pay(used)
    await notify(second, used)
    await until(async () => (await stateOf(used)) === 'granted', waitMs)
    const calls = Array.from({ length: 40 }, (_one, index) =>
      post(`${index % 2 === 0 ? first.url : second.url}/api/shortlink_api.php`, {
        api_key: key,
        action: 'generate',
        target_url: 'https://example.com/',
      }),
    )
    const [refund, ...answers] = await Promise.all([
      admin(settings, 'order', 'refund', used, ...note),
      ...calls,
    ])
    const made = answers.filter(({ status }) => status === 200).length
    const taken = refund.code === 0 ? 20 : 0
    assert.equal(await left(), 30 - made - taken)
    assert.ok(made + taken <= 30)
    if (taken > 0) await until(async () => (await stateOf(used)) === 'refunded', waitMs)
    assert.deepEqual(refundsOf(used), taken > 0 ? [200] : [])

    const check = await run('ledger', 'check')
    assert.deepEqual([check.ok, check.problems], [true, []])
    assert.deepEqual(fake.problems, [])
    for (const service of [first, second]) await service.kill('SIGTERM')
    await db.close()
    await storage.remove()
  })
})
