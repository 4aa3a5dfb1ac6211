// The listening connection on a real PostgreSQL: which messages arrive, and how soon it notices that none can arrive.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openFaultyProxy } from '../../test/support/faulty-proxy.ts'
import { freshStorage } from '../../test/support/engines.ts'
import type { Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { createWaitGuard } from './postgres-listener.ts'

async function until(event: string, happened: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = performance.now() + ms
  while (!(await happened())) {
    if (performance.now() > end) assert.fail(`not within ${ms} ms: ${event}`)
    await sleep(5)
  }
}

function listenTo(db: Database) {
  const received: string[] = []
  const channel = db.listen!('test_channel', {
    onMessage: (payload) => received.push(payload),
    onUp: () => received.push('(up)'),
    onDown: () => received.push('(down)'),
  })
  return { received, channel }
}

const notify = (db: Database, payload: string) =>
  db.write((tx) => tx.all('SELECT pg_notify(?, ?)', ['test_channel', payload]))

it('receives messages in the order of their commits and none of a transaction that was rolled back', async () => {
  const storage = await freshStorage('postgres')
  const db = storage.open()
  const { received, channel } = listenTo(db)
  await until('up', () => channel.isFresh())
  for (const payload of ['one', 'two', 'three']) await notify(db, payload)
  await db
    .write(async (tx) => {
      await tx.all('SELECT pg_notify(?, ?)', ['test_channel', 'never'])
      throw new Error('no')
    })
    .catch(() => undefined)
  await notify(db, 'four')
  await until('four', () => received.includes('four'))
  assert.deepEqual(received, ['(up)', 'one', 'two', 'three', 'four'])
  channel.close()
  await until('down', () => !channel.isFresh())
  await db.close()
  await storage.remove()
})

it('reconnects when the server ends the connection', async () => {
  const storage = await freshStorage('postgres')
  const db = storage.open()
  const { received, channel } = listenTo(db)
  await until('up', () => channel.isFresh())
  await db.all(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'tollgate listening' AND datname = current_database()`,
  )
  await until('down', () => received.includes('(down)'))
  await until('up again', () => channel.isFresh())
  await notify(db, 'still there')
  await until('received', () => received.includes('still there'))
  channel.close()
  await db.close()
  await storage.remove()
})

it('is not fresh within a second of a silent break, and fresh again after it', async () => {
  const storage = await freshStorage('postgres')
  await using proxy = await openFaultyProxy(storage.environment['DATABASE_URL']!)
  const db = openPostgres(proxy.url)
  const { received, channel } = listenTo(db)
  await until('up', () => channel.isFresh())
  proxy.dropTraffic('LISTEN')
  await notify(db, 'missed')
  await sleep(1_000)
  assert.equal(channel.isFresh(), false)
  await until('down', () => received.includes('(down)'))
  assert.equal(received.includes('missed'), false)
  proxy.restoreTraffic()
  await until('up again', () => channel.isFresh())
  channel.close()
  await db.close()
  await storage.remove()
})

it('retains no promise that it awaited', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { withTimeout } = createWaitGuard()
  const awaited: WeakRef<object>[] = []
  for (let check = 0; check < 100; check += 1)
    awaited.push(new WeakRef(await withTimeout(Promise.resolve({ check }))))
  await nextTurn()
  collect()
  const retained = awaited.filter((ref) => ref.deref() !== undefined).length
  assert.ok(retained < 5, `${retained} of 100 are retained`)
})

it('rejects the awaited promise and all later ones with the first failure', async () => {
  const guard = createWaitGuard()
  const waiting = guard.withTimeout(new Promise(() => undefined))
  guard.fail(new Error('broken'))
  await assert.rejects(waiting, /broken/)
  guard.fail(new Error('again'))
  await assert.rejects(guard.withTimeout(Promise.resolve()), /broken/)
})
