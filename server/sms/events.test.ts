// Events of messages, from the send and from receipts.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { onEachEngine } from '../../test/support/engines.ts'
import { post, startService, type TestAccount, type TestService } from '../../test/support/service.ts'
import { systemActor } from '../audit/audit.ts'
import { createEventRules } from '../events/delivery.ts'
import { createSendDecisions } from './decide.ts'
import { createTemplate } from './templates.ts'

onEachEngine('SMS events', (engine) => {
  let service: TestService

  before(async () => {
    service = await startService(engine, { SMS_RECEIPT_SECRET: 'receipts-of-the-test' })
    await service.app.services.jobs.stop()
  })
  after(() => service[Symbol.asyncDispose]())

  const db = () => service.installation.db
  const holder = async (events: readonly string[]) => {
    const account = await service.account({ sms: 10 })
    await createTemplate(db(), systemActor, {
      accountId: account.id,
      code: 'EVENT',
      name: 'event',
      content: '${code}',
      status: '审核通过',
    })
    const { webhooks } = createEventRules(service.app.services)
    if (events.length > 0)
      await webhooks.add(systemActor, account.id, { url: 'https://example.com/', events })
    return account
  }
  const send = (account: TestAccount, phone: string) =>
    post(`${service.url}/api/sms_api.php`, {
      action: 'send_sms',
      username: account.username,
      api_key: account.key,
      phone_number: phone,
      template_code: 'EVENT',
      template_params: { code: '1234' },
    })
  const eventsOf = (account: TestAccount) =>
    db().all<{ type: string; data: string }>(
      'SELECT type, data FROM event WHERE account_id = ? ORDER BY id',
      [account.id],
    )

  it('reports an accepted message once, with the whole number', async () => {
    const account = await holder(['sms.sent', 'sms.failed'])
    const { body } = await send(account, '13800138000')
    assert.equal(body.code, 0, JSON.stringify(body))
    const [event, ...rest] = await eventsOf(account)
    assert.deepEqual([event?.type, rest], ['sms.sent', []])
    const data = JSON.parse(event!.data) as Record<string, string>
    assert.equal(data['phone_number'], '13800138000')
    assert.equal(data['biz_id'], body.data.biz_id)
    assert.equal(data['template_code'], 'EVENT')
  })

  it('reports a message that the gateway refused', async () => {
    const account = await holder(['sms.failed'])
    await send(account, '19900000001')
    const events = await eventsOf(account)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['sms.failed'],
    )
  })

  it('reports the first final receipt once, and what it proves', async () => {
    const account = await holder(['sms.sent', 'sms.delivered', 'sms.failed'])
    const { body } = await send(account, '13800138000')
    const receipt = {
      bizId: body.data.biz_id as string,
      gatewayId: undefined,
      phone: '8613800138000',
      state: 'delivered',
      code: 'DELIVRD',
    } as const
    const decisions = createSendDecisions(service.app.services, [])
    await Promise.all([1, 2, 3].map(() => decisions.applyReceipt('sandbox', receipt)))
    await decisions.applyReceipt('sandbox', { ...receipt, state: 'undelivered' })
    const events = await eventsOf(account)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['sms.sent', 'sms.delivered'],
    )
  })

  it('writes nothing for an account without an endpoint', async () => {
    const account = await holder([])
    await send(account, '13800138000')
    assert.deepEqual(await eventsOf(account), [])
  })
})
