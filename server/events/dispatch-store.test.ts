// What the dispatcher finds: deliveries of removed endpoints, and of receivers that asked for a pause.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { hourMs } from '../../contract/time.ts'
import { withClock } from '../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { insertWebhook, webhookUrl } from '../../test/support/events.ts'
import { createAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import type { Database } from '../db/database.ts'
import { deleteUndeliverable, findBacklog, pullInDeliveries, recordEndpointResult } from './dispatch-store.ts'
import { emitTo } from './emit.ts'
import { deleteEndpoint, listDeliveries } from './store.ts'

async function addEndpoint(db: Database, accountId: number): Promise<number> {
  return db.write(async (tx) => {
    const id = await insertWebhook(tx, accountId)
    await emitTo(tx, id, { accountId, type: 'ping', data: {} })
    return id
  })
}

const list = (db: Database, id: number) => listDeliveries(db, id, { before: undefined, limit: 10 })

onEachEngine('deliveries that nobody can receive', (engine) => {
  it('are deleted when their endpoint was removed', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { id: accountId } = await createAccount(db, systemActor, { username: 'acme' })
    const [kept, sent, removed] = [
      await addEndpoint(db, accountId),
      await addEndpoint(db, accountId),
      await addEndpoint(db, accountId),
    ]
    await db.write(async (tx) => {
      await tx.run(`UPDATE event_delivery SET state = 'delivered' WHERE endpoint_id = ?`, [sent])
      await tx.run(
        `INSERT INTO event_delivery (event_id, endpoint_id, account_id, state, due_at, created_at)
         SELECT d.event_id, d.endpoint_id, d.account_id, d.state, d.due_at, d.created_at
         FROM event_delivery d, event_delivery other WHERE d.endpoint_id = ?`,
        [removed],
      )
      for (const id of [sent, removed]) await deleteEndpoint(tx, id)
    })
    await deleteUndeliverable(db, new AbortController().signal)
    assert.deepEqual(
      [(await list(db, kept)).length, (await list(db, sent)).length, await list(db, removed)],
      [1, 1, []],
    )
  })

  it('are not behind while the receiver has asked for a pause', async () => {
    await using fresh = await freshDatabase(engine)
    const clock = { now: Date.now() }
    const db = withClock(fresh.db, clock)
    const { id: accountId } = await createAccount(db, systemActor, { username: 'acme' })
    const id = await addEndpoint(db, accountId)
    const { now: dueAt } = clock
    assert.equal((await findBacklog(db)).oldestDueAt, dueAt)
    const result = { succeeded: false, pauseMs: 3 * hourMs, leaseMs: 1 }
    await db.write((tx) => recordEndpointResult(tx, { id, url: webhookUrl }, result))
    clock.now += 2 * hourMs
    assert.deepEqual(await findBacklog(db), { pending: 1, oldestDueAt: undefined })
    clock.now += hourMs
    assert.equal((await findBacklog(db)).oldestDueAt, dueAt)
  })
})

it('maintenance on SQLite finds deliveries by their endpoint, however many another endpoint has', async () => {
  await using fresh = await freshDatabase('sqlite')
  const { db } = fresh
  const { id: accountId } = await createAccount(db, systemActor, { username: 'acme' })
  await addEndpoint(db, accountId)
  const copy = `INSERT INTO event_delivery (event_id, endpoint_id, account_id, state, due_at, created_at)
    SELECT event_id, endpoint_id, account_id, state, due_at, created_at FROM event_delivery`
  for (let size = 1; size < 4_096; size *= 2) await db.write((tx) => tx.run(copy))
  await db.write((tx) => tx.run('ANALYZE'))
  const statements: string[] = []
  const recording: Database = {
    ...db,
    write: (job) =>
      db.write((tx) =>
        job({
          ...tx,
          run: (sql, values) => {
            statements.push(sql)
            return tx.run(sql, values)
          },
        }),
      ),
  }
  const { signal } = new AbortController()
  await deleteUndeliverable(recording, signal)
  await pullInDeliveries(recording, hourMs, signal)
  assert.equal(statements.length, 2)
  for (const [index, columns] of ['endpoint_id=?', 'endpoint_id=? AND due_at>?'].entries()) {
    // Other connections do not know the statistics yet.
    const plan = await db.write((tx) =>
      tx.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${statements[index]!}`),
    )
    const found = plan.filter(({ detail }) => / d /.test(detail)).map(({ detail }) => detail)
    assert.equal(found.length, 1)
    assert.ok(found[0]!.includes('INDEX event_delivery_due') && found[0]!.includes(`(${columns})`), found[0])
  }
})
