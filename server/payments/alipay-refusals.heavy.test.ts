// Refunds that Alipay refuses because of the state of the payment: they end, and give the credits back, once it is proven that
// nothing was refunded.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { startAlipay } from '../../test/support/fake-alipay.ts'
import { createAccount, requireAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { readConfig } from '../config.ts'
import { findBalance } from '../credits/store.ts'
import { addPackage } from './packages.ts'
import { createPayments } from './payments.ts'
import { findOrder } from './store.ts'

onEachEngine('refunds that Alipay refuses', (engine) => {
  it('end when its own query shows that nothing was refunded', async () => {
    await using fresh = await freshDatabase(engine)
    await using fake = await startAlipay()
    const { db } = fresh
    const config = readConfig({ ...fake.settings, PAYMENTS: 'alipay', GATEWAY_TIMEOUT_MS: '3000' })
    const { orders, refunds } = createPayments({ db, config, publicUrl: () => 'http://127.0.0.1:1' })
    const { username } = await createAccount(db, systemActor, { username: 'payer' })
    const account = await requireAccount(db, username)
    await addPackage(db, systemActor, 'p1', { name: 'A', credits: { sms: 5 }, price: '5.00' })
    const order = await orders.create(systemActor, account, { packageCode: 'p1', provider: 'alipay' })
    fake.pay(order.number)
    assert.equal(await orders.check(order), 'settled')
    const operator = { kind: 'operator', name: 'cli' } as const
    const request = (amount: number) => refunds.request(operator, order.number, { amount, note: 'x' })
    const left = async () => (await findBalance(db, account.id, 'sms')).remaining
    const stateOf = async () => (await findOrder(db, order.number))?.state

    fake.fault = 'refund_refused'
    const refused = await request(100)
    assert.deepEqual([refused.state, refused.last_reason], ['failed', 'ACQ.TRADE_STATUS_ERROR'])
    assert.deepEqual([await left(), await stateOf()], [5, 'granted'])

    // The answer to the first attempt was lost, and the refund was made.
    fake.fault = 'silent_refund'
    assert.equal((await request(200)).state, 'pending')
    fake.fault = 'refund_refused'
    await db.write((tx) => tx.run('UPDATE payment_refund SET lease_until = 0'))
    assert.equal((await request(200)).state, 'succeeded')
    assert.deepEqual([await left(), await stateOf()], [3, 'partly_refunded'])
    assert.deepEqual([...fake.trades.get(order.number)!.refunds.values()], [200])

    // The answer to the first attempt was lost, and a query does not show the refund yet.
    fake.fault = 'silent_refund'
    const { number } = await request(100)
    const made = fake.trades.get(order.number)!.refunds
    const again = async () => {
      await db.write((tx) => tx.run('UPDATE payment_refund SET lease_until = 0'))
      const { state, last_reason: reason } = await request(100)
      return [state, reason]
    }
    fake.fault = 'refund_refused'
    made.delete(number)
    assert.deepEqual(await again(), ['pending', 'ACQ.TRADE_STATUS_ERROR'])
    assert.deepEqual([await left(), await stateOf()], [2, 'partly_refunded'])
    made.set(number, 100)
    assert.deepEqual(await again(), ['succeeded', null])
    assert.equal(await left(), 2)

    // Nothing was refunded, also after a time in which it would be visible.
    fake.fault = 'silent_refund'
    const lost = await request(100)
    fake.fault = 'refund_refused'
    made.delete(lost.number)
    assert.equal((await again())[0], 'pending')
    await db.write((tx) => tx.run('UPDATE payment_refund SET created_at = created_at - 30000'))
    assert.deepEqual(await again(), ['failed', 'ACQ.TRADE_STATUS_ERROR'])
    assert.equal(await left(), 2)

    // Requested long ago, but the last attempt is a moment ago: a query may not show yet that it was made.
    fake.fault = 'silent_refund'
    const recent = await request(100)
    await db.write((tx) => tx.run('UPDATE payment_refund SET created_at = created_at - 3600000'))
    assert.equal((await request(100)).attempts, 2)
    fake.fault = 'refund_refused'
    made.delete(recent.number)
    assert.equal((await request(100)).state, 'pending')
    assert.equal(await left(), 1)
    await db.write((tx) => tx.run('UPDATE payment_refund SET lease_until = lease_until - 30000'))
    assert.equal((await request(100)).state, 'failed')
    assert.equal(await left(), 2)
  })
})
