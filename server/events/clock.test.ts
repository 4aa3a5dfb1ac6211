// A clock that was ahead and is set back, for example a machine whose hardware clock has the local time.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { withClock } from '../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { hourMs } from '../../contract/time.ts'
import { createAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { hasDue, leaseEndpoints } from './dispatch-store.ts'
import { leaseMs } from './dispatcher.ts'
import { emitTo } from './emit.ts'
import { insertEndpoint } from './store.ts'

onEachEngine('webhooks after the clock was set back', (engine) => {
  it('are delivered, although a killed process has leased the endpoint', async () => {
    await using fresh = await freshDatabase(engine)
    const clock = { now: Date.now() }
    const db = withClock(fresh.db, clock)
    const { id: accountId } = await createAccount(db, systemActor, { username: 'acme' })
    const emitOne = (endpoint: number) =>
      db.write((tx) => emitTo(tx, endpoint, { accountId, type: 'sms.delivered', data: {} }))
    const endpoint = await db.write((tx) =>
      insertEndpoint(tx, {
        account_id: accountId,
        kind: 'webhook',
        url: 'https://example.com/webhook',
        event_types: '*',
        secret: null,
        state: 'active',
        language: 'zh',
        confirm_hash: null,
      }),
    )
    const lease = async () => (await db.write((tx) => leaseEndpoints(tx, 1, leaseMs))).map(({ id }) => id)
    await emitOne(endpoint)
    assert.deepEqual(await lease(), [endpoint])
    assert.deepEqual([await hasDue(db, leaseMs), await lease()], [false, []], 'a process serves it')

    clock.now -= 8 * hourMs
    await emitOne(endpoint)
    assert.deepEqual([await hasDue(db, leaseMs), await lease()], [true, [endpoint]])
  })
})
