// Refunds of which only the provider knows: a restore has lost them, and the numbers of the order begin again.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { dayMs } from '../../contract/time.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { startAlipay } from '../../test/support/fake-alipay.ts'
import { startStripe } from '../../test/support/fake-stripe.ts'
import { startWechatpay } from '../../test/support/fake-wechatpay.ts'
import { createAccount, requireAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import type { Engine } from '../db/database.ts'
import { readConfig } from '../config.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import { findBalance } from '../credits/store.ts'
import { addPackage } from './packages.ts'
import { createPayments } from './payments.ts'
import { findOrder } from './store.ts'

const starts = { alipay: startAlipay, wechatpay: startWechatpay, stripe: startStripe }
type Name = keyof typeof starts

/** An order of 5.00 for 5 messages that was paid. */
async function open(engine: Engine, provider: Name) {
  const fresh = await freshDatabase(engine)
  const fake = await starts[provider]()
  const { db } = fresh
  const config = readConfig({ ...fake.settings, PAYMENTS: provider, GATEWAY_TIMEOUT_MS: '3000' })
  const { orders, refunds } = createPayments({ db, config, publicUrl: () => 'http://127.0.0.1:1' })
  const { username } = await createAccount(db, systemActor, { username: 'payer' })
  const account = await requireAccount(db, username)
  const chief = await createAccount(db, systemActor, { username: 'chief', role: 'operator' })
  await db.write((tx) => tx.run(`UPDATE account SET event_types = '*' WHERE id = ?`, [chief.id]))
  await addPackage(db, systemActor, 'p1', { name: 'A', credits: { sms: 5 }, price: '5.00' })
  const order = await orders.create(systemActor, account, { packageCode: 'p1', provider })
  fake.pay(order.number)
  assert.equal(await orders.check(order), 'settled')
  const made = fake.trades.get(order.number)!.refunds
  const key = (position: number) => `${provider === 'stripe' ? 'refund-' : ''}${order.number}R${position}`
  return {
    db,
    fake,
    made,
    key,
    orderId: order.id,
    /** Requests the refund until it has ended. */
    async refund(amount: number) {
      for (;;) {
        const row = await refunds.request({ kind: 'operator', name: 'cli' }, order.number, {
          amount,
          note: 'x',
        })
        const isQueried = row.attempts < 3 && row.state === 'pending'
        if (!isQueried) return [row.number.slice(order.number.length), row.state, row.last_reason]
      }
    },
    async left() {
      const { refunded, state } = (await findOrder(db, order.number))!
      return [(await findBalance(db, account.id, 'sms')).remaining, refunded, state]
    },
    async alerts() {
      const rows = await db.all<{ data: string }>(
        `SELECT data FROM event WHERE type = 'platform.payment_mismatch'`,
      )
      return rows.map(({ data }) => (JSON.parse(data) as { reason: string }).reason)
    },
    async [Symbol.asyncDispose]() {
      assert.deepEqual((await checkLedger(db, 0)).problems, [])
      assert.deepEqual(fake.problems, [])
      await fake[Symbol.asyncDispose]()
      await fresh[Symbol.asyncDispose]()
    },
  }
}

onEachEngine('a refund with the number of one that a restore has lost', (engine) => {
  const reasons = { alipay: 'ACQ.DISCORDANT_REPEAT_REQUEST', other: 'another_amount 3.00' }
  for (const provider of ['alipay', 'wechatpay', 'stripe'] as const) {
    it(`is not done when ${provider} has refunded another amount, and operators are alerted`, async () => {
      await using t = await open(engine, provider)
      t.made.set(t.key(1), 300)
      const reason = provider === 'alipay' ? reasons.alipay : reasons.other
      assert.deepEqual(await t.refund(200), ['R1', 'failed', reason])
      assert.deepEqual(await t.left(), [5, 0, 'granted'])
      assert.deepEqual(await t.alerts(), [`refund_failed ${reason}`])
      assert.deepEqual(await t.refund(200), ['R2', 'succeeded', null])
      assert.deepEqual(await t.left(), [3, 200, 'partly_refunded'])
      assert.deepEqual([...t.made.values()], [300, 200])
    })

    it(`is the same one when ${provider} has refunded the same amount`, async () => {
      await using t = await open(engine, provider)
      t.made.set(t.key(1), 200)
      assert.deepEqual(await t.refund(200), ['R1', 'succeeded', null])
      assert.deepEqual(await t.left(), [3, 200, 'partly_refunded'])
      assert.deepEqual([...t.made.values()], [200])
    })
  }

  it('is not done when Alipay refuses it because of the state of the payment', async () => {
    await using t = await open(engine, 'alipay')
    t.made.set(t.key(1), 500)
    t.fake.fault = 'refund_refused'
    assert.deepEqual(await t.refund(200), ['R1', 'failed', 'another_amount 5.00'])
    assert.deepEqual(await t.left(), [5, 0, 'granted'])
  })

  it('is searched for at Stripe when the idempotency key may be forgotten', async () => {
    await using t = await open(engine, 'stripe')
    const posted: string[] = []
    t.fake.onRequest = ({ method, url }) => void (method === 'POST' && posted.push(url!))
    t.made.set(t.key(1), 200)
    const ago = (days: number) =>
      t.db.write((tx) => tx.run(`UPDATE payment_order SET created_at = created_at - ${days * dayMs}`))
    await ago(2)
    assert.deepEqual(await t.refund(200), ['R1', 'succeeded', null])
    assert.deepEqual(posted, [])
    t.made.set(t.key(2), 100)
    // A clock that was ahead when the order was created.
    await ago(-4)
    assert.deepEqual(await t.refund(200), ['R2', 'failed', 'another_amount 1.00'])
    assert.deepEqual(posted, [])
    assert.deepEqual(await t.left(), [3, 200, 'partly_refunded'])
  })
})
