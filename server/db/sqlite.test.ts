// What only SQLite has: group commit, waiting for other writers, a full disk.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { join } from 'node:path'
import { freshDatabase } from '../../test/support/engines.ts'
import { DatabaseUnavailable } from './database.ts'
import { findSetting, putSetting } from './setting-store.ts'

it('commits the jobs of one turn together', async () => {
  await using fresh = await freshDatabase('sqlite')
  const commits: number[] = []
  fresh.db.stats.onCommit = (jobs) => commits.push(jobs)
  await Promise.all(
    Array.from({ length: 40 }, (_, i) => fresh.db.write((tx) => putSetting(tx, `s${i}`, '1'))),
  )
  assert.deepEqual(commits, [40])
})

it('runs the jobs of a batch again when one fails, each in a savepoint, and still in one commit', async () => {
  await using fresh = await freshDatabase('sqlite')
  const commits: number[] = []
  fresh.db.stats.onCommit = (jobs) => commits.push(jobs)
  const runs = [0, 0, 0]
  const results = await Promise.allSettled(
    runs.map((_, i) =>
      fresh.db.write(async (tx) => {
        runs[i]! += 1
        await putSetting(tx, `s${i}`, '1')
        if (i === 1) throw new Error('this job fails')
      }),
    ),
  )
  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(commits, [3])
  assert.deepEqual(runs, [2, 2, 1])
  assert.equal(await findSetting(fresh.db, 's1'), undefined)
  assert.equal(await findSetting(fresh.db, 's2'), '1')
})

it('reads committed data only, also while a transaction is open', async () => {
  await using fresh = await freshDatabase('sqlite')
  await fresh.db.write((tx) => putSetting(tx, 'seen', 'before'))
  await fresh.db.write(async (tx) => {
    await putSetting(tx, 'seen', 'after')
    assert.equal(await findSetting(fresh.db, 'seen'), 'before')
    assert.equal(await findSetting(tx, 'seen'), 'after')
  })
  assert.equal(await findSetting(fresh.db, 'seen'), 'after')
})

it('rejects writes outside of a job', async () => {
  await using fresh = await freshDatabase('sqlite')
  const insert = `INSERT INTO setting (name, value) VALUES ('outside', '1')`
  await assert.rejects(fresh.db.run(insert), /readonly/)
  await assert.rejects(fresh.db.one(`${insert} RETURNING name`), /readonly/)
  assert.equal(await findSetting(fresh.db, 'outside'), undefined)
})

it('waits for another process that is writing, without blocking the event loop', async () => {
  await using fresh = await freshDatabase('sqlite')
  const other = new DatabaseSync(join(fresh.storage.environment['DATA_DIR']!, 'tollgate.db'))
  other.exec('BEGIN IMMEDIATE')
  const written = fresh.db.write((tx) => putSetting(tx, 'waited', '1'))
  let turns = 0
  const ticking = setInterval(() => (turns += 1), 5)
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.ok(turns > 3, 'timers ran while the write was waiting')
  other.exec('COMMIT')
  await written
  clearInterval(ticking)
  other.close()
  assert.equal(await findSetting(fresh.db, 'waited'), '1')
})

it('fails every job of a batch when the disk is full, and writes again when there is space', async () => {
  await using fresh = await freshDatabase('sqlite')
  const big = 'x'.repeat(20_000)
  await fresh.db.write(async (tx) => {
    const row = await tx.one<{ page_count: number }>('PRAGMA page_count')
    await tx.one(`PRAGMA max_page_count = ${row!.page_count + 2}`)
  })
  const results = await Promise.allSettled([
    fresh.db.write((tx) => putSetting(tx, 'small', '1')),
    fresh.db.write((tx) => putSetting(tx, 'big', big)),
  ])
  const acknowledged = results.map((result) => result.status === 'fulfilled')
  assert.equal(acknowledged[1], false)
  // Exactly what was acknowledged is stored.
  assert.equal((await findSetting(fresh.db, 'small')) !== undefined, acknowledged[0])
  assert.equal(await findSetting(fresh.db, 'big'), undefined)
  await fresh.db.write(async (tx) => void (await tx.one('PRAGMA max_page_count = 1000000')))
  await fresh.db.write((tx) => putSetting(tx, 'big', big))
  assert.equal(await findSetting(fresh.db, 'big'), big)
})

it(
  'fails with a clear error when another process never ends its transaction',
  { timeout: 20_000 },
  async () => {
    await using fresh = await freshDatabase('sqlite')
    const other = new DatabaseSync(join(fresh.storage.environment['DATA_DIR']!, 'tollgate.db'))
    other.exec('BEGIN IMMEDIATE')
    await assert.rejects(
      fresh.db.write((tx) => putSetting(tx, 'never', '1')),
      DatabaseUnavailable,
    )
    other.exec('ROLLBACK')
    other.close()
    await fresh.db.probe((tx) => putSetting(tx, 'heartbeat', ''))
  },
)
