// The same send for somebody who came by a session and has no key: what the console will use.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { sms as endpoint } from '../../contract/sms.ts'
import { clearKey } from '../accounts/accounts.ts'
import { findById } from '../accounts/store.ts'
import type { Call } from '../http/call.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { phone, smsService } from '../../test/support/sms.ts'
import { openGateways } from './gateways.ts'
import { openSend } from './send.ts'

function handMade(json: Record<string, unknown>): Call {
  return {
    endpoint,
    requestId: 'by-hand',
    language: 'zh',
    address: '127.0.0.1',
    sources: { headers: {}, json },
    idempotencyKey: undefined,
    response: {} as ServerResponse,
    notes: {
      startedAt: performance.now(),
      steps: {},
      accountId: undefined,
      username: undefined,
      action: undefined,
      parameterSources: {},
      charged: 0,
      givenBack: 0,
      gateway: undefined,
      replayed: false,
    },
  }
}

onEachEngine('SMS by hand', (engine) => {
  test('an account without a key sends and is charged the same', async () => {
    await using sms = await smsService(engine)
    const { services } = sms.service.app
    await clearKey(services.db, sms.account.id)
    const account = (await findById(services.db, sms.account.id))!
    const send = openSend(
      services,
      openGateways(services.config, () => {}),
    )
    const call = handMade({ phone_number: phone, template_code: 'CODE', template_params: { code: '1' } })
    const answer = await send(call, { account, keyHash: undefined })
    assert.equal(answer.status, 200)
    assert.equal(call.notes.charged, 1)
    assert.equal(call.notes.gateway, 'sandbox')
    assert.equal(await sms.remaining(), 99)
    await assert.rejects(send(handMade({ phone_number: '1' }), { account, keyHash: undefined }))
    assert.deepEqual(await sms.ledgerOk(), [])
  })
})
