// A clock that was ahead and is set back, for example a machine whose hardware clock has the local time.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { withClock } from '../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { insertWebhook, webhookUrl } from '../../test/support/events.ts'
import { dayMs, hourMs } from '../../contract/time.ts'
import { createAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { countRows } from '../db/count-rows.ts'
import {
  hasDue,
  leaseEndpoints,
  pullInDeliveries,
  recordAttempts,
  recordEndpointResult,
  releaseEndpoint,
} from './dispatch-store.ts'
import { leaseMs } from './dispatcher.ts'
import { emitEvents, emitTo } from './emit.ts'
import { findEndpoint, insertEndpoint } from './store.ts'

onEachEngine('events after the clock was set back', (engine) => {
  it('webhooks are delivered, although a killed process has leased the endpoint', async () => {
    await using fresh = await freshDatabase(engine)
    const clock = { now: Date.now() }
    const db = withClock(fresh.db, clock)
    const { id: accountId } = await createAccount(db, systemActor, { username: 'acme' })
    const emitOne = (endpoint: number) =>
      db.write((tx) => emitTo(tx, endpoint, { accountId, type: 'sms.delivered', data: {} }))
    const endpoint = await db.write((tx) => insertWebhook(tx, accountId))
    const lease = async () => (await db.write((tx) => leaseEndpoints(tx, 1, leaseMs))).map(({ id }) => id)
    await emitOne(endpoint)
    assert.deepEqual(await lease(), [endpoint])
    assert.deepEqual([await hasDue(db, leaseMs), await lease()], [false, []], 'a process serves it')

    clock.now -= 8 * hourMs
    await emitOne(endpoint)
    assert.deepEqual([await hasDue(db, leaseMs), await lease()], [true, [endpoint]])
  })

  it('webhooks are tried again, although the wait or a pause was planned by the clock ahead', async () => {
    await using fresh = await freshDatabase(engine)
    const clock = { now: Date.now() }
    const db = withClock(fresh.db, clock)
    const { id: accountId } = await createAccount(db, systemActor, { username: 'acme' })
    const id = await db.write((tx) => insertWebhook(tx, accountId))
    const deliveryId = await db.write((tx) => emitTo(tx, id, { accountId, type: 'sms.delivered', data: {} }))
    const fail = (attempts: number) =>
      db.write(async (tx) => {
        await recordAttempts(tx, clock.now, [
          {
            deliveryId,
            attempts,
            state: 'pending',
            waitMs: dayMs,
            durationMs: 1,
            status: 500,
            error: '',
            response: '',
          },
        ])
        await recordEndpointResult(tx, { id, url: webhookUrl }, { succeeded: false, pauseMs: dayMs, leaseMs })
        await releaseEndpoint(tx, id)
      })
    const pullIn = () => pullInDeliveries(db, dayMs, new AbortController().signal)
    await fail(1)
    await pullIn()
    assert.equal(await hasDue(db, leaseMs), false, 'it waits as long as it should')

    clock.now -= 8 * hourMs
    await pullIn()
    assert.equal(await hasDue(db, leaseMs), true)
    await fail(2)
    assert.deepEqual(
      [await hasDue(db, leaseMs), (await findEndpoint(db, id))?.failing_since],
      [false, clock.now],
    )
    clock.now += dayMs
    assert.equal(await hasDue(db, leaseMs), true)
  })
  it('alerts are sent, although the last ones with the same key are from the time ahead', async () => {
    await using fresh = await freshDatabase(engine)
    const clock = { now: Date.now() }
    const db = withClock(fresh.db, clock)
    const { id: accountId } = await createAccount(db, systemActor, { username: 'acme' })
    await db.write(async (tx) => {
      await tx.run(`UPDATE account SET event_types = '*' WHERE id = ?`, [accountId])
      await insertEndpoint(tx, {
        account_id: accountId,
        kind: 'wecom',
        url: 'https://example.com/robot',
        event_types: '*',
        secret: null,
        state: 'active',
        language: 'zh',
        confirm_hash: null,
      })
    })
    const alerts = async () => {
      await db.write((tx) => emitEvents(tx, [{ accountId, type: 'credits.empty', data: {} }]))
      return countRows(db, 'event_delivery')
    }
    assert.equal(await alerts(), 1)
    clock.now -= hourMs / 2
    assert.equal(await alerts(), 1, 'the clock was corrected a little')
    clock.now -= 8 * hourMs
    assert.equal(await alerts(), 2)
    assert.equal(await alerts(), 2)
  })
})
