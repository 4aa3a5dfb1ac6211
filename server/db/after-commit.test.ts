// Effects run after the commit, in order, and never for a job that was rolled back or run again.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, freshStorage, onEachEngine } from '../../test/support/engines.ts'
import type { Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { findSetting, putSetting } from './setting-store.ts'
import { openSqlite } from './sqlite.ts'

onEachEngine('afterCommit', (engine) => {
  it('runs effects in order, after the commit and before write resolves', async () => {
    await using fresh = await freshDatabase(engine)
    const seen: string[] = []
    let read: Promise<string | undefined> | undefined
    const written = fresh.db.write(async (tx) => {
      tx.afterCommit(() => {
        seen.push('first')
        read = findSetting(fresh.db, 'committed')
      })
      await putSetting(tx, 'committed', 'yes')
      tx.afterCommit(() => seen.push('second'))
      assert.deepEqual(seen, [])
    })
    await written.then(() => seen.push('resolved'))
    assert.deepEqual(seen, ['first', 'second', 'resolved'])
    assert.equal(await read, 'yes')
  })

  it('runs nothing for a job that throws, and keeps the effects of the jobs beside it to one run', async () => {
    await using fresh = await freshDatabase(engine)
    const seen: string[] = []
    const job = (name: string, fails = false) =>
      fresh.db.write(async (tx) => {
        tx.afterCommit(() => seen.push(name))
        await putSetting(tx, name, '1')
        if (fails) throw new Error('this job fails')
      })
    await Promise.allSettled([job('a'), job('b', true), job('c')])
    assert.deepEqual(seen.toSorted(), ['a', 'c'])
    await assert.rejects(job('alone', true))
    await job('d')
    assert.deepEqual(seen.toSorted(), ['a', 'c', 'd'])
  })

  it('runs nothing when the statement before the commit failed', async () => {
    await using fresh = await freshDatabase(engine)
    let ran = false
    const written = fresh.db.write(async (tx) => {
      tx.afterCommit(() => (ran = true))
      await tx.run('INSERT INTO nowhere VALUES (1)').catch(() => undefined)
      throw new Error('this job fails')
    })
    await assert.rejects(written)
    assert.equal(ran, false)
  })

  it('reports an effect that throws, and runs the others', async () => {
    const storage = await freshStorage(engine)
    const reports: string[] = []
    const db = openWithReports(storage.environment, (text) => reports.push(text))
    let ran = false
    const value = await db.write(async (tx) => {
      tx.afterCommit(() => {
        throw new Error('broken effect')
      })
      tx.afterCommit(() => (ran = true))
      return 'written'
    })
    assert.equal(value, 'written')
    assert.deepEqual(reports, ['after-commit effect failed: broken effect'])
    assert.equal(ran, true)
    await db.close()
    await storage.remove()
  })
})

function openWithReports(
  environment: Readonly<Record<string, string>>,
  report: (text: string) => void,
): Database {
  const onError = (error: Error, message: string) => report(`${message}: ${error.message}`)
  const url = environment['DATABASE_URL']
  return url === undefined
    ? openSqlite(`${environment['DATA_DIR']}/tollgate.db`, { onError })
    : openPostgres(url, { onError })
}
