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
