// What only the embedded engine does: group commit, waiting for other writers, a full disk.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { join } from 'node:path'
import { freshDatabase } from '../../test/support/engines.ts'
import { DatabaseUnavailable } from './database.ts'
import { findSetting, putSetting } from './setting-store.ts'

it('carries the jobs of one turn with one commit', async () => {
  await using fresh = await freshDatabase('sqlite')
  const commits: number[] = []
  fresh.db.stats.onCommit = (jobs) => commits.push(jobs)
  await Promise.all(
    Array.from({ length: 40 }, (_, i) => fresh.db.write((tx) => putSetting(tx, `s${i}`, '1'))),
  )
  assert.deepEqual(commits, [40])
})

it('runs the jobs beside a failing one again, each by itself, and still in one commit', async () => {
  await using fresh = await freshDatabase('sqlite')
  const commits: number[] = []
  fresh.db.stats.onCommit = (jobs) => commits.push(jobs)
  const runs = [0, 0, 0]
  const results = await Promise.allSettled(
    runs.map((_, i) =>
      fresh.db.write(async (tx) => {
        runs[i]! += 1
        await putSetting(tx, `s${i}`, '1')
        if (i === 1) throw new Error('this one fails')
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

it('reads what is committed and nothing else, also while a transaction is open', async () => {
  await using fresh = await freshDatabase('sqlite')
  await fresh.db.write((tx) => putSetting(tx, 'seen', 'before'))
  await fresh.db.write(async (tx) => {
    await putSetting(tx, 'seen', 'after')
    assert.equal(await findSetting(fresh.db, 'seen'), 'before')
    assert.equal(await findSetting(tx, 'seen'), 'after')
  })
  assert.equal(await findSetting(fresh.db, 'seen'), 'after')
})

it('refuses to change anything outside of a job', async () => {
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

it('answers every job of a batch with an error when the disk is full, and goes on when there is room', async () => {
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
  // What was acknowledged is there, what was not is not.
  assert.equal((await findSetting(fresh.db, 'small')) !== undefined, acknowledged[0])
  assert.equal(await findSetting(fresh.db, 'big'), undefined)
  await fresh.db.write(async (tx) => void (await tx.one('PRAGMA max_page_count = 1000000')))
  await fresh.db.write((tx) => putSetting(tx, 'big', big))
  assert.equal(await findSetting(fresh.db, 'big'), big)
})

it(
  'gives up with a clear error when another process never ends its transaction',
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
    await fresh.db.checkWritable()
  },
)
