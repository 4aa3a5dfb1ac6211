// The listening connection against a real PostgreSQL: what it hears, and how soon it knows that it hears nothing.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { cutProxy } from '../../test/support/cut-proxy.ts'
import { freshStorage } from '../../test/support/engines.ts'
import type { Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openWait } from './postgres-listener.ts'

async function until(what: string, isSo: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = performance.now() + ms
  while (!(await isSo())) {
    if (performance.now() > end) assert.fail(`not within ${ms} ms: ${what}`)
    await sleep(5)
  }
}

function listenTo(db: Database) {
  const heard: string[] = []
  const channel = db.listen!('test_channel', {
    onMessage: (payload) => heard.push(payload),
    onUp: () => heard.push('(up)'),
    onDown: () => heard.push('(down)'),
  })
  return { heard, channel }
}

const say = (db: Database, payload: string) =>
  db.write((tx) => tx.all('SELECT pg_notify(?, ?)', ['test_channel', payload]))

it('hears commits in their order and nothing of what was rolled back', async () => {
  const storage = await freshStorage('postgres')
  const db = storage.open()
  const { heard, channel } = listenTo(db)
  await until('up', () => channel.isFresh())
  for (const word of ['one', 'two', 'three']) await say(db, word)
  await db
    .write(async (tx) => {
      await tx.all('SELECT pg_notify(?, ?)', ['test_channel', 'never'])
      throw new Error('no')
    })
    .catch(() => undefined)
  await say(db, 'four')
  await until('four', () => heard.includes('four'))
  assert.deepEqual(heard, ['(up)', 'one', 'two', 'three', 'four'])
  channel.close()
  await until('down', () => !channel.isFresh())
  await db.close()
  await storage.remove()
})

it('comes back when the server ends the connection', async () => {
  const storage = await freshStorage('postgres')
  const db = storage.open()
  const { heard, channel } = listenTo(db)
  await until('up', () => channel.isFresh())
  await db.all(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'tollgate listening' AND datname = current_database()`,
  )
  await until('down', () => heard.includes('(down)'))
  await until('up again', () => channel.isFresh())
  await say(db, 'still there')
  await until('heard', () => heard.includes('still there'))
  channel.close()
  await db.close()
  await storage.remove()
})

it('is not fresh any more within a second of a silent cut, and fresh again after it', async () => {
  const storage = await freshStorage('postgres')
  await using proxy = await cutProxy(storage.environment['DATABASE_URL']!)
  const db = openPostgres(proxy.url)
  const { heard, channel } = listenTo(db)
  await until('up', () => channel.isFresh())
  proxy.swallow('LISTEN')
  await say(db, 'lost')
  await sleep(1_000)
  assert.equal(channel.isFresh(), false)
  await until('given up', () => heard.includes('(down)'))
  assert.equal(heard.includes('lost'), false)
  proxy.heal()
  await until('up again', () => channel.isFresh())
  channel.close()
  await db.close()
  await storage.remove()
})

it('remembers nothing of what it has waited for, however long the connection stands', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { inTime } = openWait()
  const seen: WeakRef<object>[] = []
  for (let beat = 0; beat < 100; beat += 1) seen.push(new WeakRef(await inTime(Promise.resolve({ beat }))))
  await nextTurn()
  collect()
  const kept = seen.filter((one) => one.deref() !== undefined).length
  assert.ok(kept < 5, `${kept} of 100 are kept`)
})

it('gives up with the reason, at once and for whatever is waited for afterwards', async () => {
  const wait = openWait()
  const waiting = wait.inTime(new Promise(() => undefined))
  wait.giveUp(new Error('lost'))
  await assert.rejects(waiting, /lost/)
  wait.giveUp(new Error('again'))
  await assert.rejects(wait.inTime(Promise.resolve()), /lost/)
})
