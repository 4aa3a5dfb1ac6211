// A server that fails without closing its connections, like a machine without power or a network that drops everything.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshStorage } from '../../test/support/engines.ts'
import { openFaultyProxy } from '../../test/support/faulty-proxy.ts'
import { type Database, DatabaseUnavailable } from './database.ts'
import { openPostgres } from './postgres.ts'
import { findSetting, putSetting } from './setting-store.ts'

it('connections without a response are replaced', { timeout: 30_000 }, async () => {
  const storage = await freshStorage('postgres')
  const proxy = await openFaultyProxy(storage.environment['DATABASE_URL']!)
  const db = openPostgres(proxy.url, { poolSize: 2, silenceMs: 1_000 })
  const use = () => [
    db.write((tx) => putSetting(tx, 'name', 'value')),
    findSetting(db, 'name'),
    findSetting(db.reports, 'name'),
    db.probe((tx) => putSetting(tx, 'name', 'value')),
  ]
  await Promise.all(use())

  proxy.dropTraffic('')
  const lost = Promise.allSettled(use())
  proxy.restoreTraffic()
  for (const result of await lost) {
    assert.ok(result.status === 'rejected' && result.reason instanceof DatabaseUnavailable)
  }

  await Promise.all(use())
  await db.close()
  await proxy[Symbol.asyncDispose]()
  await storage.remove()
})

it('a migration or a backup may take longer, and what follows on its connection may not', async () => {
  const storage = await freshStorage('postgres')
  const proxy = await openFaultyProxy(storage.environment['DATABASE_URL']!)
  const wait = 'SELECT pg_sleep(2)'
  const longWork: ((db: Database) => Promise<unknown>)[] = [
    (db) =>
      db.write(async (tx) => {
        await tx.removeTimeLimit()
        await tx.all(wait)
      }),
    (db) => db.snapshot((snapshot) => snapshot.all(wait)),
  ]
  await Promise.all(
    longWork.map(async (work) => {
      const db = openPostgres(proxy.url, { poolSize: 1, silenceMs: 1_300 })
      await work(db)
      await assert.rejects(db.all(wait), DatabaseUnavailable)
      await db.write((tx) => putSetting(tx, 'name', 'value'))
      await db.close()
    }),
  )
  await proxy[Symbol.asyncDispose]()
  await storage.remove()
})
