// Buying credits against fake providers: money that was paid is granted once, refunded once, or visibly waits for an operator.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { PaymentProviderName } from '../contract/payments.ts'
import { onEachEngine } from './support/engines.ts'
import { startAlipay } from './support/fake-alipay.ts'
import { type FakeProvider, stranger } from './support/fake-payments.ts'
import { startStripe } from './support/fake-stripe.ts'
import { startWechatpay } from './support/fake-wechatpay.ts'
import { admin, startService, type TestAccount, type TestService } from './support/service.ts'
import { until } from './support/until.ts'

const providers = { alipay: startAlipay, wechatpay: startWechatpay, stripe: startStripe }
type Real = keyof typeof providers

onEachEngine('payments', (engine) => {
  // Providers do not depend on the engine; two of them show that notifications of one do not settle orders of another.
  const names: readonly Real[] =
    engine === 'sqlite' ? ['alipay', 'wechatpay', 'stripe'] : ['wechatpay', 'alipay']
  const fakes = {} as Record<Real, FakeProvider>
  let service: TestService
  let environment: Record<string, string>
  let account: TestAccount

  before(async () => {
    environment = {
      PAYMENTS: [...names, 'transfer'].join(','),
      GATEWAY_TIMEOUT_MS: '1000',
      PAYMENT_POLL_S: '1,600',
    }
    for (const name of names) {
      fakes[name] = await providers[name]()
      Object.assign(environment, fakes[name].settings)
    }
    service = await startService(engine, environment)
    Object.assign(environment, service.storage.environment, { PUBLIC_URL: service.url })
    account = await service.account()
    await run(
      'package',
      'add',
      'p1',
      '--name',
      '基础包 A/B=1',
      '--credits',
      'sms=100,short_link=7',
      '--price',
      '19.99',
    )
  })
  after(async () => {
    const check = await admin(environment, 'ledger', 'check', '--json')
    assert.equal(check.code, 0, check.stdout)
    for (const name of names) assert.deepEqual(fakes[name].problems, [], name)
    await service[Symbol.asyncDispose]()
    for (const name of names) await fakes[name][Symbol.asyncDispose]()
  })

  // oxlint-disable-next-line typescript/no-explicit-any -- commands print different shapes
  async function run(...words: string[]): Promise<any> {
    const result = await admin(environment, ...words, '--json')
    assert.equal(result.code, 0, result.stderr)
    return JSON.parse(result.stdout)
  }
  const order = async (provider: PaymentProviderName, code = 'p1'): Promise<string> =>
    (await run('order', 'create', account.username, code, '--pay', provider)).number as string
  const show = (number: string) => run('order', 'show', number)
  const stateOf = async (number: string) => (await show(number)).state as string
  const url = (name: Real) => `${service.url}/payments/notify/${name}`
  const granted = async (number: string) => {
    const { rows } = await run('ledger', 'list', account.username)
    return (rows as { note: string; kind: string }[]).filter(
      (row) => row.note === number && row.kind === 'grant',
    ).length
  }

  /** The same for every provider. */
  const each = (test: (name: Real) => Promise<void>) => async () => {
    for (const name of names) await test(name)
  }

  const success = {
    alipay: [200, 'success'],
    wechatpay: [204, ''],
    stripe: [200, '{"received":true}'],
  } as const

  it(
    'a believed notification grants once, however often and from however many it comes',
    each(async (name) => {
      const fake = fakes[name]
      const created = await run('order', 'create', account.username, 'p1', '--pay', name)
      assert.equal(created.amount, '19.99')
      assert.ok(created.pay_url ?? created.code_url)
      const { number } = created as { number: string }
      assert.match(number, /^\w{6,32}$/)
      fake.pay(number)
      const sent = fake.notify(number)
      const answers = await Promise.all([
        fake.post(url(name), sent),
        fake.post(url(name), sent),
        fake.post(url(name), fake.notify(number)),
      ])
      for (const { status, body } of answers) assert.deepEqual([status, body], success[name])
      const shown = await show(number)
      assert.equal(shown.state, 'granted')
      assert.deepEqual(
        shown.history.map((one: { event: string }) => one.event),
        ['created', 'paid', 'granted'],
      )
      assert.equal(await granted(number), 2)
      assert.equal((await fake.post(url(name), sent)).body, success[name][1])
      assert.equal(await granted(number), 2)
    }),
  )

  it(
    'forged, stale, truncated and unsigned notifications are refused and change nothing',
    each(async (name) => {
      const fake = fakes[name]
      const number = await order(name)
      const cases = [
        fake.notify(number, { key: stranger.privateKey }),
        fake.notify(number, { cut: true }),
        ...(name === 'alipay'
          ? []
          : [fake.notify(number, { ageS: 400 }), fake.notify(number, { ageS: -400 })]),
        { headers: {}, body: '' },
        { headers: { 'content-type': 'application/json' }, body: '{}' },
      ]
      for (const sent of cases) {
        const { status, body } = await fake.post(url(name), sent)
        assert.ok(status >= 400 && status < 500, `${status}`)
        assert.notEqual(body, 'success')
      }
      assert.deepEqual((await show(number)).history.length, 1)
    }),
  )

  it(
    'a signed notification that does not fit is recorded as refused',
    each(async (name) => {
      const fake = fakes[name]
      const number = await order(name)
      const other = names.find((one) => one !== name)!
      const foreign = await order(other)
      fake.pay(number)
      fake.fault = 'lies_unpaid'
      const reasons: [ReturnType<FakeProvider['notify']>, string, RegExp][] = [
        [fake.notify(number, { amount: 1 }), number, /amount 0.01, expected 19.99/],
        [fake.notify(number, { currency: 'USD' }), number, /currency USD/],
        [fake.notify(number, { merchant: '2021000000000009' }), number, /merchant/],
        [fake.notify(number), number, /does not say paid/],
        [fake.notify(foreign, { amount: 1999 }), foreign, new RegExp(`paid by ${other}`)],
      ]
      for (const [sent, target, reason] of reasons) {
        const { status, body } = await fake.post(url(name), sent)
        assert.ok(status < 500)
        assert.notDeepEqual([status, body], success[name])
        const shown = await show(target)
        assert.equal(shown.state, 'pending')
        const last = shown.history.at(-1) as { event: string; note: string }
        assert.equal(last.event, 'refused')
        assert.match(last.note, reason)
      }
      assert.equal((await fake.post(url(name), fake.notify('T99999999'))).status < 500, true)
      fake.fault = 'none'
      assert.equal((await fake.post(url(name), fake.notify(number))).body, success[name][1])
      assert.equal(await granted(number), 2)
    }),
  )

  it(
    'a lost notification costs nothing, and answers that are not signed are none',
    each(async (name) => {
      const fake = fakes[name]
      const number = await order(name)
      fake.pay(number)
      // The provider itself says something else than the notification: nothing is granted.
      const trade = fake.trades.get(number)!
      Object.assign(trade, { amount: 1 })
      await fake.post(url(name), fake.notify(number, { amount: 1999 }))
      const contradicted = await show(number)
      assert.deepEqual(
        [contradicted.state, contradicted.history.at(-1).event, contradicted.history.at(-1).note],
        ['pending', 'refused', 'amount 0.01, expected 19.99'],
      )
      Object.assign(trade, { amount: 1999 })
      for (const fault of [
        'down',
        'nonsense',
        'error',
        ...(name === 'stripe' ? [] : (['unsigned'] as const)),
      ] as const) {
        fake.fault = fault
        assert.notEqual((await fake.post(url(name), fake.notify(number))).body, 'success', fault)
        assert.equal(await stateOf(number), 'pending', fault)
      }
      fake.fault = 'none'
      await until(async () => (await stateOf(number)) === 'granted', 120_000)
      assert.equal(await granted(number), 2)
    }),
  )

  it(
    'an unclear refund is asked again under one number, and takes the credits once',
    each(async (name) => {
      const fake = fakes[name]
      const number = await order(name)
      fake.pay(number)
      await fake.post(url(name), fake.notify(number))
      const earlier = await run('credits', 'show', account.username)
      fake.fault = 'silent_refund'
      const words = ['order', 'refund', number, '--amount', '10', '--note', 'unhappy']
      const [first, second] = await Promise.all([run(...words), run(...words)])
      assert.equal(first.refund.number, second.refund.number)
      assert.equal(first.refund.state, 'pending')
      const different = await admin(environment, 'order', 'refund', number, '--amount', '3', '--note', 'x')
      assert.equal(different.code, 1)
      fake.fault = 'none'
      await run(...words)
      await until(async () => (await stateOf(number)) === 'partly_refunded')
      assert.deepEqual([...fake.trades.get(number)!.refunds.values()], [1000])
      const left = await run('credits', 'show', account.username)
      const taken = (type: string) => {
        const find = (list: { api_type: string; remaining: number }[]) =>
          list.find((one) => one.api_type === type)!
        return find(earlier.credits).remaining - find(left.credits).remaining
      }
      assert.deepEqual([taken('sms'), taken('short_link')], [51, 4])
      await run('order', 'refund', number, '--note', 'the rest')
      await until(async () => (await stateOf(number)) === 'refunded')
      assert.deepEqual([...fake.trades.get(number)!.refunds.values()], [1000, 999])
    }),
  )

  it('an unknown provider has no address, and one that is not configured neither', async () => {
    assert.equal((await fetch(`${service.url}/payments/notify/paypal`, { method: 'POST' })).status, 404)
    await using plain = await startService(engine)
    assert.equal(
      (await fetch(`${plain.url}/payments/notify/stripe`, { method: 'POST', body: '{}' })).status,
      404,
    )
  })

  it('bank transfer: an operator confirms once', async () => {
    const number = await order('transfer')
    assert.equal((await admin(environment, 'order', 'confirm', number)).code, 1)
    const results = await Promise.all(
      [1, 2].map(() => admin(environment, 'order', 'confirm', number, '--note', 'seen')),
    )
    assert.equal(results.filter(({ code }) => code === 0).length, 1)
    assert.equal(await granted(number), 2)
    const { rows } = await run('audit', 'list')
    const row = (rows as { action: string; subject: string; note: string }[]).find(
      (one) => one.subject === number && one.action === 'order.confirm',
    )
    assert.equal(row?.note, 'seen')
    assert.equal((await admin(environment, 'order', 'confirm', await order('alipay'), '--note', 'x')).code, 1)
  })

  it('refunds no more than the unused credits', async () => {
    const poor = await service.account()
    const { number } = await run('order', 'create', poor.username, 'p1', '--pay', 'transfer')
    await run('order', 'confirm', number, '--note', 'seen')
    await run('credits', 'take', poor.username, 'sms', '60')
    const refused = await admin(environment, 'order', 'refund', number, '--amount', '15', '--note', 'x')
    assert.match(refused.stderr, /7\.99/)
    assert.equal(
      (await run('order', 'refund', number, '--amount', '7.99', '--note', 'x')).state,
      'partly_refunded',
    )
  })
})

onEachEngine('expiry of orders', (engine) => {
  it('closes unpaid orders; a late payment is granted, or refunded when the package is gone', async () => {
    await using fake = await startWechatpay()
    const settings = { ...fake.settings, PAYMENTS: 'wechatpay', ORDER_TTL_S: '1', PAYMENT_POLL_S: '600' }
    await using service = await startService(engine, settings)
    const environment = { ...settings, ...service.storage.environment, PUBLIC_URL: service.url }
    // oxlint-disable-next-line typescript/no-explicit-any -- commands print different shapes
    const run = async (...words: string[]): Promise<any> => {
      const result = await admin(environment, ...words, '--json')
      assert.equal(result.code, 0, result.stderr)
      return JSON.parse(result.stdout)
    }
    const account = await service.account()
    await run('package', 'add', 'p1', '--name', 'A', '--credits', 'sms=5', '--price', '1.00')
    await run('package', 'add', 'gone', '--name', 'B', '--credits', 'sms=5', '--price', '1.00')
    const numbers: string[] = []
    for (const code of ['p1', 'gone']) {
      numbers.push((await run('order', 'create', account.username, code, '--pay', 'wechatpay')).number)
    }
    const state = async (number: string) => (await run('order', 'show', number)).state as string
    for (const number of numbers) {
      await until(async () => (await state(number)) === 'closed')
      assert.equal(fake.trades.get(number)!.state, 'closed')
    }
    await run('package', 'remove', 'gone')
    for (const number of numbers) {
      fake.pay(number)
      await fake.post(`${service.url}/payments/notify/wechatpay`, fake.notify(number))
    }
    assert.equal(await state(numbers[0]!), 'granted')
    await until(async () => (await state(numbers[1]!)) === 'refunded')
    assert.deepEqual([...fake.trades.get(numbers[1]!)!.refunds.values()], [100])
    const { credits } = await run('credits', 'show', account.username)
    assert.equal(credits.find((one: { api_type: string }) => one.api_type === 'sms').remaining, 5)
    assert.equal((await run('ledger', 'check')).ok, true)
  })
})

onEachEngine('the sandbox cashier', (engine) => {
  it('pays with a bare POST, once, and only with the right address', async () => {
    await using service = await startService(engine)
    const environment = { ...service.storage.environment, PUBLIC_URL: service.url }
    const account = await service.account()
    // oxlint-disable-next-line typescript/no-explicit-any -- commands print different shapes
    const run = async (...words: string[]): Promise<any> =>
      JSON.parse((await admin(environment, ...words, '--json')).stdout)
    await run('package', 'add', 'p1', '--name', '<b>A</b>', '--credits', 'sms=5', '--price', '1')
    const { pay_url: payUrl, number } = await run(
      'order',
      'create',
      account.username,
      'p1',
      '--pay',
      'sandbox',
    )
    assert.ok((payUrl as string).startsWith(`${service.url}/`))
    assert.match(await (await fetch(payUrl)).text(), /&lt;b&gt;A[\s\S]*<form method="post">/)
    // One language: that of the browser, or the one that the reader chose.
    const headingIn = async (search: string, language: string) => {
      const response = await fetch(payUrl + search, { headers: { 'accept-language': language } })
      return /<h1>(.*)<\/h1>/.exec(await response.text())?.[1]
    }
    assert.deepEqual(
      await Promise.all([
        headingIn('', '*'),
        headingIn('', 'en-US,en;q=0.9'),
        headingIn('?lang=en', 'zh-CN'),
        headingIn('?lang=zh', 'en'),
      ]),
      ['沙箱收银台', 'Sandbox cashier', 'Sandbox cashier', '沙箱收银台'],
    )
    const answers = await Promise.all([1, 2, 3].map(() => fetch(payUrl, { method: 'POST' })))
    for (const answer of answers) assert.equal(answer.status, 200)
    assert.equal((await run('order', 'show', number)).state, 'granted')
    const { credits } = await run('credits', 'show', account.username)
    assert.equal(credits.find((one: { api_type: string }) => one.api_type === 'sms').remaining, 5)
    for (const method of ['GET', 'POST']) {
      const wrong = `${(payUrl as string).slice(0, -3)}aaa`
      assert.equal((await fetch(wrong, { method })).status, 404)
    }
    assert.equal((await run('ledger', 'check')).ok, true)
  })
})
