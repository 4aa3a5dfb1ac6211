// Daily reconciliation with the bills of the three providers: agreement, every kind of difference, missing and damaged bills.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import type { FakeBillRow } from '../../test/support/fake-bills.ts'
import { startAlipay } from '../../test/support/fake-alipay.ts'
import type { FakeProvider } from '../../test/support/fake-payments.ts'
import { startStripe } from '../../test/support/fake-stripe.ts'
import { startWechatpay } from '../../test/support/fake-wechatpay.ts'
import { createAccount } from '../accounts/accounts.ts'
import { type Account, findById } from '../accounts/store.ts'
import { systemActor } from '../audit/audit.ts'
import { readConfig } from '../config.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import type { Database } from '../db/database.ts'
import { dayMs, startOfDay } from '../../contract/time.ts'
import { addPackage } from './packages.ts'
import { createPayments, type Payments } from './payments.ts'
import { listDifferences, listReconciliations } from './reconciliation-store.ts'
import { sumsView } from './views.ts'
import { findOrder } from './store.ts'

const names = ['alipay', 'wechatpay', 'stripe'] as const
type Name = (typeof names)[number]

onEachEngine('reconciliation', (engine) => {
  let fresh: Awaited<ReturnType<typeof freshDatabase>>
  let fakes: Record<Name, FakeProvider>
  let payments: Payments
  let db: Database
  let account: Account
  let day = '2026-01-02'
  let noon = 0

  before(async () => {
    fresh = await freshDatabase(engine)
    db = fresh.db
    fakes = { alipay: await startAlipay(), wechatpay: await startWechatpay(), stripe: await startStripe() }
    const settings = Object.assign({}, ...names.map((name) => fakes[name].settings)) as Record<string, string>
    const config = readConfig({ ...settings, PAYMENTS: names.join(','), GATEWAY_TIMEOUT_MS: '30000' })
    payments = createPayments({ db, config, publicUrl: () => 'http://127.0.0.1:1' })
    const { id } = await createAccount(db, systemActor, { username: 'payer' })
    account = (await findById(db, id))!
    const chief = await createAccount(db, systemActor, { username: 'chief', role: 'operator' })
    await db.write((tx) => tx.run(`UPDATE account SET event_types = '*' WHERE id = ?`, [chief.id]))
    const operator = { kind: 'operator', name: 'test' } as const
    await addPackage(db, operator, 'p1', { name: 'A', credits: { sms: 100 }, price: '19.99' })
  })
  after(async () => {
    for (const fake of Object.values(fakes)) await fake[Symbol.asyncDispose]()
    await fresh[Symbol.asyncDispose]()
  })

  async function order(name: Name, state: 'pending' | 'granted', packageCode = 'p1'): Promise<string> {
    const created = await payments.orders.create(systemActor, account, { packageCode, provider: name })
    fakes[name].pay(created.number)
    if (state === 'granted') {
      assert.equal(await payments.orders.check(created), 'settled')
      await move(created.number, noon)
    }
    return created.number
  }

  async function move(number: string, at: number): Promise<void> {
    await db.write((tx) =>
      tx.run('UPDATE payment_order SET created_at = ?, paid_at = ? WHERE number = ?', [at, at, number]),
    )
  }

  const run = (name: Name) => payments.reconciler.run(payments.providers.get(name)!, day)

  async function differences(name: Name) {
    const rows = await listDifferences(db, { openOnly: false, limit: 200 })
    return rows
      .filter((row) => row.provider === name && row.day === day)
      .map((row) => `${row.order_number} ${row.kind} ${row.resolved_by}`)
      .sort()
  }

  /** A day of its own for every test, and a full bill. */
  const each =
    (first: string, test: (name: Name, setBill: (rows: FakeBillRow[]) => void) => Promise<void>) =>
    async () => {
      day = first
      noon = startOfDay(day)! + dayMs / 2
      for (const name of names) {
        await test(name, (rows) => void fakes[name].bills.set(day, rows))
        fakes[name].fault = 'none'
        assert.deepEqual(fakes[name].problems, [])
      }
    }

  it(
    'agrees with a bill of several pages, with refunds and with the rows of other programs',
    each('2026-01-02', async (name, setBill) => {
      const numbers = [await order(name, 'granted'), await order(name, 'granted')]
      const actor = { kind: 'operator', name: 'test', note: 'x' } as const
      await payments.refunds.request(actor, numbers[0]!, { amount: 500, note: 'x' })
      const others = Array.from({ length: 60 }, (_one, index) => ({ number: `OTHER${index}`, amount: 1 }))
      setBill([
        ...others,
        ...numbers.map((number) => ({ number, amount: 1999 })),
        { number: numbers[0]!, amount: 500, refund: `${numbers[0]}R1` },
      ])
      assert.deepEqual(await run(name), { kind: 'done', differences: 0 })
      assert.equal((await findOrder(db, numbers[0]!))?.bill_day, day)
      const [row] = await db.all<Record<string, number>>(
        'SELECT orders, amount, their_orders, their_amount, their_refund_amount FROM payment_reconciliation WHERE provider = ?',
        [name],
      )
      assert.deepEqual(
        { ...row },
        {
          orders: 2,
          amount: 3998,
          their_orders: 2,
          their_amount: 3998,
          their_refund_amount: 500,
        },
      )
    }),
  )

  it('sums a day of several currencies by currency, on both sides', async () => {
    day = '2026-01-05'
    noon = startOfDay(day)! + dayMs / 2
    const operator = { kind: 'operator', name: 'test', note: 'x' } as const
    await addPackage(db, operator, 'p2', { name: 'B', credits: { sms: 9 }, price: '7.50', currency: 'USD' })
    const yuan = await order('stripe', 'granted')
    const dollars = [await order('stripe', 'granted', 'p2'), await order('stripe', 'granted', 'p2')]
    const { number } = await payments.refunds.request(operator, yuan, { amount: 500, note: 'x' })
    await db.write((tx) =>
      tx.run('UPDATE payment_refund SET created_at = ?, ended_at = ? WHERE number = ?', [noon, noon, number]),
    )
    fakes.stripe.bills.set(day, [
      { number: yuan, amount: 1999 },
      { number: yuan, amount: 500, refund: number },
      ...dollars.map((one) => ({ number: one, amount: 750, currency: 'USD' })),
    ])
    assert.deepEqual(await run('stripe'), { kind: 'done', differences: 0 })
    const rows = await listReconciliations(db, { limit: 200 })
    const side = [
      { currency: 'CNY', amount: '19.99', refund_amount: '5.00' },
      { currency: 'USD', amount: '15.00', refund_amount: '0.00' },
    ]
    const row = rows.find((one) => one.provider === 'stripe' && one.day === day)!
    assert.deepEqual(sumsView(row), { ours: side, theirs: side })
    assert.deepEqual(sumsView({ sums: null }), { ours: [], theirs: [] })
  })

  it(
    'finds every kind of difference once, and grants a payment that was missed',
    each('2026-02-03', async (name, setBill) => {
      const missed = await order(name, 'pending')
      const [cheap, twice, absent, gone, back] = [
        await order(name, 'granted'),
        await order(name, 'granted'),
        await order(name, 'granted'),
        await order(name, 'granted'),
        await order(name, 'granted'),
      ]
      fakes[name].trades.get(gone!)!.state = 'open'
      setBill([
        { number: missed, amount: 1999 },
        { number: cheap!, amount: 1 },
        { number: twice!, amount: 1999 },
        { number: twice!, amount: 1999, trade: 'second' },
        { number: back!, amount: 1999 },
        { number: back!, amount: 1999, refund: 'by-hand' },
        { number: 'T20260203101010ABCDEFGHJK', amount: 5 },
      ])
      // The provider confirms `absent`; a bill can be late.
      assert.deepEqual(await run(name), { kind: 'done', differences: 6 })
      const expected = [
        `${missed} not_granted system`,
        `${cheap} amount null`,
        `${twice} paid_twice null`,
        `${gone} not_paid null`,
        `${back} refund null`,
        'T20260203101010ABCDEFGHJK unknown_order null',
      ].sort()
      assert.deepEqual(await differences(name), expected)
      const alerts = await db.all(
        `SELECT id FROM event WHERE type = 'platform.payment_mismatch' AND data LIKE ? AND data LIKE ?`,
        [`%"${name}"%`, `%reconciliation ${day}%`],
      )
      assert.equal(alerts.length, expected.length)
      assert.equal((await findOrder(db, missed))?.state, 'granted')
      assert.equal((await findOrder(db, absent!))?.bill_day, null)
      assert.equal((await run(name)).kind, 'done')
      assert.deepEqual(await differences(name), expected)
    }),
  )

  it(
    'waits for a bill that is missing, damaged or not answered, and runs in one process at a time',
    each('2026-03-04', async (name, setBill) => {
      const number = await order(name, 'granted')
      for (const fault of ['down', 'nonsense', 'bad_bill'] as const) {
        fakes[name].fault = fault
        setBill([{ number, amount: 1999 }])
        assert.equal((await run(name)).kind, 'postponed', fault)
      }
      fakes[name].fault = 'none'
      fakes[name].bills.delete(day)
      if (name !== 'stripe') assert.deepEqual(await run(name), { kind: 'postponed', reason: 'no_bill' })
      setBill([{ number, amount: 1999 }])
      await db.write((tx) => tx.run('UPDATE payment_reconciliation SET next_attempt_at = NULL'))
      const runDue = () => payments.reconciler.run(payments.providers.get(name)!, day, { dueOnly: true })
      const results = await Promise.all([runDue(), runDue(), runDue()])
      assert.deepEqual(results.map(({ kind }) => kind).sort(), ['busy', 'busy', 'done'])
      assert.deepEqual(await differences(name), [])
    }),
  )

  it('reconciles the days that are due, each once, and asks nothing without orders', async () => {
    day = '2026-04-05'
    noon = startOfDay(day)! + dayMs / 2
    const number = await order('alipay', 'granted')
    await db.write((tx) =>
      tx.run(`UPDATE payment_order SET created_at = ?, paid_at = ? WHERE number <> ?`, [noon, noon, number]),
    )
    await db.write((tx) => tx.run('DELETE FROM payment_reconciliation'))
    for (const fake of Object.values(fakes)) fake.bills.clear()
    const signal = new AbortController().signal
    const days = async () =>
      (
        await db.all<{ day: string }>(
          `SELECT day FROM payment_reconciliation WHERE provider = 'alipay' ORDER BY day`,
        )
      ).map((row) => row.day)
    // At 10:29 of the next day the bill is not ready yet.
    await payments.reconciler.runDue(startOfDay('2026-04-06')! + 10.4 * 3_600_000, signal)
    assert.deepEqual(await days(), [])
    for (const name of names) fakes[name].bills.set(day, [])
    await payments.reconciler.runDue(startOfDay('2026-04-07')! + 10.6 * 3_600_000, signal)
    assert.deepEqual(await days(), ['2026-04-05', '2026-04-06'])
    assert.equal((await checkLedger(db, 0)).ok, true)
  })
})
