// A response that contains the balance is stored after the refund.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemActor } from '../../audit/audit.ts'
import { freshDatabase, onEachEngine, uniqueName } from '../../../test/support/engines.ts'
import { createAccount } from '../../accounts/accounts.ts'
import { createCredits } from '../credits.ts'

onEachEngine('a response with the balance', (engine) => {
  test('is stored with the balance after the refund', async () => {
    await using ground = await freshDatabase(engine)
    const credits = createCredits(ground.db, 'a secret for tests, long enough to be one')
    const { id: accountId } = await createAccount(ground.db, systemActor, { username: uniqueName() })
    await credits.grant({ actor: systemActor, accountId, apiType: 'domain_check', amount: 10 })
    const buy = async (key: string, refund: number) => {
      const idempotency = { key, fingerprint: key }
      const charged = await credits.charge({
        accountId,
        apiType: 'domain_check',
        action: 'test',
        cost: 4,
        requestId: 'test',
        leaseMs: 60_000,
        idempotency,
      })
      assert.equal(charged.kind, 'charged')
      const { operationId } = charged as { operationId: number }
      const response = (remaining: number | undefined) => ({
        status: 200,
        body: { remaining: remaining ?? 'none' },
      })
      await credits.end({ accountId, operationId, end: { state: 'settled', refund }, response })
      return credits.findPreviousCall(accountId, idempotency)
    }
    assert.deepEqual(await buy('refund', 3), {
      kind: 'replay',
      response: { status: 200, body: { remaining: 9 } },
    })
    assert.deepEqual(await buy('none', 0), {
      kind: 'replay',
      response: { status: 200, body: { remaining: 'none' } },
    })
  })
})
