// Sends from the console, for an account without an API key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemActor } from '../audit/audit.ts'
import { sms as endpoint } from '../../contract/sms.ts'
import { clearKey } from '../accounts/accounts.ts'
import { findById } from '../accounts/store.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { createSessionCall } from '../../test/support/console-call.ts'
import { phone, startSmsService } from '../../test/support/sms.ts'
import { createCodeHash } from './codes.ts'
import { createComposer } from './compose.ts'
import { createSmsGateways } from './gateways.ts'
import { createSend } from './send.ts'

const handMade = (json: Record<string, unknown>) => createSessionCall(endpoint, json)

onEachEngine('SMS from the console', (engine) => {
  test('sends and charges without an API key', async () => {
    await using sms = await startSmsService(engine)
    const { services } = sms.service.app
    await clearKey(services.db, systemActor, sms.account.id)
    const account = (await findById(services.db, sms.account.id))!
    const { send } = createSend(
      services,
      createSmsGateways(services.config),
      createComposer(services),
      createCodeHash(services.secretFor),
    )
    const call = handMade({ phone_number: phone, template_code: 'CODE', template_params: { code: '1' } })
    const answer = await send(call, { account, keyHash: undefined })
    assert.equal(answer.status, 200)
    assert.equal(call.trace.charged, 1)
    assert.equal(call.trace.gateway, 'sandbox')
    assert.equal(await sms.remaining(), 99)
    await assert.rejects(send(handMade({ phone_number: '1' }), { account, keyHash: undefined }))
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })
})
