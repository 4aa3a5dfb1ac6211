// Events of Stripe about refunds and disputes, which have none of the metadata of their payment.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { it } from 'node:test'
import { onEachEngine } from '../../test/support/engines.ts'
import { startStripe, webhookSecret } from '../../test/support/fake-stripe.ts'
import { startService } from '../../test/support/service.ts'
import { createAccount, requireAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { readConfig } from '../config.ts'
import { insertEndpoint } from '../events/store.ts'
import { addPackage } from './packages.ts'
import { createPayments } from './payments.ts'
import { findOrder, listOrderEvents } from './store.ts'

onEachEngine('events of Stripe', (engine) => {
  it('a refund that fails after it succeeded, and a dispute, are recorded and alerted', async () => {
    await using fake = await startStripe()
    const settings = { ...fake.settings, PAYMENTS: 'stripe', GATEWAY_TIMEOUT_MS: '60000' }
    await using service = await startService(engine, settings)
    const { db } = service.installation
    const config = readConfig({ ...settings, ...service.storage.environment })
    const { orders, refunds } = createPayments({ db, config, publicUrl: () => service.url })
    const account = await requireAccount(db, (await service.account()).username)
    const chief = await createAccount(db, systemActor, { username: 'chief', role: 'operator' })
    await db.write((tx) => tx.run(`UPDATE account SET event_types = '*' WHERE id = ?`, [chief.id]))
    await db.write((tx) =>
      insertEndpoint(tx, {
        account_id: chief.id,
        kind: 'mail',
        url: 'chief@example.com',
        event_types: '*',
        secret: null,
        state: 'active',
        language: 'zh',
        confirm_hash: null,
      }),
    )
    await addPackage(db, systemActor, 'p1', { name: 'A', credits: { sms: 5 }, price: '5.00' })
    const created = await orders.create(systemActor, account, { packageCode: 'p1', provider: 'stripe' })
    const { number } = created
    fake.pay(number)
    assert.equal(await orders.check(created), 'settled')
    const operator = { kind: 'operator', name: 'cli' } as const
    const refund = await refunds.request(operator, number, { amount: 100, note: 'unhappy' })
    assert.equal(refund.state, 'succeeded')

    const send = async (type: string, object: object) => {
      const body = JSON.stringify({ id: 'evt_1', type, livemode: false, data: { object } })
      const timestamp = Math.floor(Date.now() / 1000)
      const signature = createHmac('sha256', webhookSecret).update(`${timestamp}.${body}`).digest('hex')
      const response = await fetch(`${service.url}/payments/notify/stripe`, {
        method: 'POST',
        headers: { 'stripe-signature': `t=${timestamp},v1=${signature}` },
        body,
      })
      return response.status
    }
    const events = async () =>
      (await listOrderEvents(db, created.id, 100)).slice(3).map(({ event, note }) => `${event} ${note}`)
    /** What the operator is sent: alerts about the same come once an hour. */
    const alerts = async () => {
      const sent = await db.all<{ data: string }>(
        `SELECT e.data FROM event_delivery d JOIN event e ON e.id = d.event_id
         WHERE e.type = 'platform.payment_mismatch' ORDER BY d.id`,
      )
      return sent.map(({ data }) => (JSON.parse(data) as { reason: string }).reason)
    }
    const before = await events()
    const failed = { id: refund.provider_ref, metadata: { refund: refund.number }, payment_intent: 'pi_1' }
    assert.equal(await send('refund.updated', { ...failed, status: 'succeeded' }), 200)
    assert.deepEqual(await events(), before)
    const failure = { ...failed, status: 'failed', failure_reason: 'expired_or_canceled_card' }
    // Stripe sends several events about the same.
    const types = ['refund.updated', 'refund.failed', 'refund.updated', 'refund.failed']
    assert.deepEqual(await Promise.all(types.map((type) => send(type, failure))), [200, 200, 200, 200])
    const noted = `refund_failed 1.00 ${refund.number} expired_or_canceled_card`
    assert.deepEqual(await events(), [...before, noted])
    assert.equal((await findOrder(db, number))?.state, 'partly_refunded')

    const { trade_number: tradeNumber } = (await findOrder(db, number))!
    const dispute = { id: 'dp_1', metadata: {}, payment_intent: tradeNumber }
    const disputes = ['charge.dispute.created', 'charge.dispute.funds_withdrawn', 'charge.dispute.updated']
    assert.deepEqual(await Promise.all(disputes.map((type) => send(type, dispute))), [200, 200, 200])
    assert.deepEqual(await events(), [...before, noted, 'disputed '])
    // Other programs on the same merchant account.
    assert.equal(await send('charge.dispute.created', { ...dispute, payment_intent: 'pi_other' }), 200)
    assert.equal(await send('refund.failed', { ...failure, metadata: { refund: 'R1' } }), 200)
    assert.equal(await send('refund.failed', { ...failure, metadata: {} }), 200)
    assert.deepEqual(await alerts(), ['refund_failed expired_or_canceled_card', 'disputed'])
  })
})
