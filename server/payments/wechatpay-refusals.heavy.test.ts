// Refunds that WeChat Pay refuses, closes or stops: they end with the credits granted again, or wait for an operator who knows.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { startWechatpay } from '../../test/support/fake-wechatpay.ts'
import { createAccount, requireAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { readConfig } from '../config.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import { findBalance } from '../credits/store.ts'
import { addPackage, removePackage } from './packages.ts'
import { createPayments } from './payments.ts'
import { findOrder, listOrderEvents } from './store.ts'

onEachEngine('refunds that WeChat Pay does not make', (engine) => {
  it('end as failed once nothing was refunded, and can be requested again', async () => {
    await using fresh = await freshDatabase(engine)
    await using fake = await startWechatpay()
    const { db } = fresh
    const config = readConfig({ ...fake.settings, PAYMENTS: 'wechatpay', GATEWAY_TIMEOUT_MS: '3000' })
    const { orders, refunds } = createPayments({ db, config, publicUrl: () => 'http://127.0.0.1:1' })
    const { username } = await createAccount(db, systemActor, { username: 'payer' })
    const account = await requireAccount(db, username)
    const chief = await createAccount(db, systemActor, { username: 'chief', role: 'operator' })
    await db.write((tx) => tx.run(`UPDATE account SET event_types = '*' WHERE id = ?`, [chief.id]))
    await addPackage(db, systemActor, 'p1', { name: 'A', credits: { sms: 5 }, price: '5.00' })
    const order = await orders.create(systemActor, account, { packageCode: 'p1', provider: 'wechatpay' })
    fake.pay(order.number)
    assert.equal(await orders.check(order), 'settled')
    const operator = { kind: 'operator', name: 'cli' } as const
    const request = async (amount: number) => {
      // As if the last attempt had ended.
      await db.write((tx) => tx.run('UPDATE payment_refund SET lease_until = 0'))
      const { number, state, last_reason } = await refunds.request(operator, order.number, {
        amount,
        note: 'x',
      })
      return [number.slice(order.number.length), state, last_reason]
    }
    const ago = (ms: number) =>
      db.write((tx) => tx.run(`UPDATE payment_refund SET created_at = created_at - ${ms}`))
    const left = async () => {
      const { refunded, state } = (await findOrder(db, order.number))!
      return [(await findBalance(db, account.id, 'sms')).remaining, refunded, state]
    }
    const alerts = async () =>
      (await db.all<{ data: string }>(`SELECT data FROM event WHERE type = 'platform.payment_mismatch'`)).map(
        ({ data }) => (JSON.parse(data) as { reason: string }).reason,
      )

    // Refused; the signed query of the payment says that nothing was refunded.
    fake.fault = 'refund_refused'
    assert.deepEqual(await request(500), ['R1', 'failed', 'USER_ACCOUNT_ABNORMAL'])
    assert.deepEqual(await left(), [5, 0, 'granted'])
    assert.deepEqual(await alerts(), ['refund_failed USER_ACCOUNT_ABNORMAL'])

    // The answer to the first attempt was lost: another attempt cannot tell at once.
    fake.fault = 'silent'
    assert.deepEqual(await request(200), ['R2', 'pending', 'timeout'])
    fake.fault = 'refund_refused'
    assert.deepEqual(await request(200), ['R2', 'pending', 'USER_ACCOUNT_ABNORMAL'])
    assert.deepEqual(await left(), [3, 200, 'granted'])
    await ago(30_000)
    assert.deepEqual(await request(200), ['R2', 'failed', 'USER_ACCOUNT_ABNORMAL'])
    assert.deepEqual(await left(), [5, 0, 'granted'])

    // What an operator can change is asked again under the same number.
    fake.fault = 'refund_waits'
    assert.deepEqual(await request(100), ['R3', 'pending', 'NOT_ENOUGH'])
    await ago(30_000)
    assert.deepEqual(await request(100), ['R3', 'pending', 'NOT_ENOUGH'])
    fake.fault = 'none'
    assert.deepEqual(await request(100), ['R3', 'pending', 'PROCESSING'])
    assert.deepEqual(await request(100), ['R3', 'succeeded', null])
    assert.deepEqual(await left(), [4, 100, 'partly_refunded'])

    // After a refund, the state of the payment does not tell; the query of this refund does.
    fake.fault = 'refund_refused'
    assert.deepEqual(await request(100), ['R4', 'pending', 'USER_ACCOUNT_ABNORMAL'])
    assert.deepEqual(await request(100), ['R4', 'pending', 'USER_ACCOUNT_ABNORMAL'])
    await ago(30_000)
    assert.deepEqual(await request(100), ['R4', 'failed', 'USER_ACCOUNT_ABNORMAL'])
    assert.deepEqual(await left(), [4, 100, 'partly_refunded'])

    // Accepted, and closed later.
    fake.fault = 'none'
    assert.deepEqual(await request(100), ['R5', 'pending', 'PROCESSING'])
    fake.fault = 'refund_closed'
    assert.deepEqual(await request(100), ['R5', 'failed', 'CLOSED'])
    assert.deepEqual(await left(), [4, 100, 'partly_refunded'])
    fake.trades.get(order.number)!.refunds.delete(`${order.number}R5`)

    // Stopped: an operator settles it on the merchant platform, so the credits stay taken.
    const earlier = (await alerts()).length
    fake.fault = 'none'
    assert.deepEqual(await request(400), ['R6', 'pending', 'PROCESSING'])
    fake.fault = 'refund_abnormal'
    assert.deepEqual(await request(400), ['R6', 'pending', 'ABNORMAL'])
    assert.deepEqual(await request(400), ['R6', 'pending', 'ABNORMAL'])
    assert.deepEqual(await left(), [0, 500, 'partly_refunded'])
    assert.deepEqual((await alerts()).slice(earlier), ['refund_stopped ABNORMAL'])
    const history = await listOrderEvents(db, order.id, 100)
    assert.equal(history.filter(({ note }) => note === `4.00 ${order.number}R6 ABNORMAL`).length, 1)
    fake.fault = 'none'
    assert.deepEqual(await request(400), ['R6', 'succeeded', null])
    assert.deepEqual(await left(), [0, 500, 'refunded'])
    assert.deepEqual([...fake.trades.get(order.number)!.refunds.values()], [100, 400])

    // A late payment of a removed package whose refund is refused: it waits for an operator, who is told.
    const late = await orders.create(systemActor, account, { packageCode: 'p1', provider: 'wechatpay' })
    await db.write((tx) =>
      tx.run(`UPDATE payment_order SET state = 'closed', closed_at = created_at WHERE id = ?`, [late.id]),
    )
    await removePackage(db, systemActor, 'p1')
    fake.pay(late.number)
    fake.fault = 'refund_refused'
    const closed = (await findOrder(db, late.number))!
    assert.deepEqual(await Promise.all([orders.check(closed), orders.check(closed)]), ['settled', 'settled'])
    const refundLate = async (amount?: number) => {
      await db.write((tx) => tx.run('UPDATE payment_refund SET lease_until = 0'))
      return (await refunds.request(operator, late.number, { amount, note: 'late' })).state
    }
    const stateOf = async () => {
      const { state, refunded } = (await findOrder(db, late.number))!
      return [state, refunded]
    }
    assert.equal(await refundLate(), 'failed')
    assert.deepEqual(await stateOf(), ['paid', 0])
    assert.deepEqual((await alerts()).slice(earlier + 1), [
      'late_payment_of_removed_package',
      'refund_failed USER_ACCOUNT_ABNORMAL',
    ])
    fake.fault = 'none'
    assert.deepEqual([await refundLate(200), await refundLate(200)], ['pending', 'succeeded'])
    assert.deepEqual(await stateOf(), ['paid', 200])
    assert.deepEqual([await refundLate(), await refundLate()], ['pending', 'succeeded'])
    assert.deepEqual(await stateOf(), ['refunded', 500])
    assert.deepEqual([...fake.trades.get(late.number)!.refunds.values()], [200, 300])
    const lateHistory = await listOrderEvents(db, late.id, 100)
    assert.deepEqual(
      lateHistory.filter(({ event }) => event === 'refunded').map(({ note }) => note.split(' ')[0]),
      ['2.00', '3.00'],
    )
    assert.equal((await left())[0], 0)
    assert.deepEqual((await checkLedger(db, 0)).problems, [])
    assert.deepEqual(fake.problems, [])
  })
})
