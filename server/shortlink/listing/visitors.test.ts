// Visitors of links and of several links together, before and after the hashes of a day are replaced, on both engines.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import type { Database } from '../../db/database.ts'
import { dayOfHour, firstHourOfDay, hourOf } from '../clicks/hours.ts'
import { rollUpClicks } from '../clicks/rollup.ts'
import { runClickJob } from '../clicks/thread-store.ts'
import { describeAgent } from '../clicks/user-agents.ts'
import { toColumns } from '../clicks/visit-buffer.ts'
import { createVisitorCount } from './visitors.ts'

const agent = describeAgent('Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/141.0.0.0 Safari/537.36')
const today = dayOfHour(hourOf(Date.now()))
const range = {
  fromDay: today - 3,
  toDay: today + 1,
  fromHour: firstHourOfDay(today - 3),
  toHour: firstHourOfDay(today + 1),
}

async function visit(db: Database, linkId: number, day: number, people: readonly number[]): Promise<void> {
  const visits = people.map((person) => ({
    linkId,
    hour: firstHourOfDay(day) + 1,
    agent,
    isPrefetch: false,
    referrer: '',
    address: `198.51.${Math.floor(person / 250)}.${person % 250}`,
    clicks: 1,
  }))
  await runClickJob(db, { kind: 'append', batch: { id: randomUUID(), visits: toColumns(visits) } })
}

const rollUp = (db: Database) =>
  rollUpClicks((job) => runClickJob(db, job), (firstHourOfDay(today) + 2) * 3_600_000)

async function count(
  db: Database,
  ids: readonly number[],
  isTag: boolean,
  rowLimit?: number,
): Promise<number> {
  const visitors = createVisitorCount(db, range, isTag, rowLimit)
  for (const id of ids) await visitors.add([id])
  return visitors.total()
}

onEachEngine('visitors', (engine) => {
  test('a person who opens several links of a tag on one day is one visitor', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    for (const day of [today - 1, today]) {
      await visit(db, 1, day, [1, 2, 3])
      await visit(db, 2, day, [2, 3, 4])
      await visit(db, 3, day, [1])
    }
    const fold = () => runClickJob(db, { kind: 'fold', upTo: undefined })
    while ((await fold()) !== undefined);
    assert.equal(await count(db, [1, 2, 3], true), 8, 'from hashes')
    await rollUp(db)
    assert.equal(await count(db, [1, 2, 3], true), 8, 'from a sketch and hashes')
    assert.equal(await count(db, [1, 2, 3], false), 14)
    // One row each of the day before: the people of the second and third link are added up.
    assert.equal(await count(db, [1, 2, 3], true, 1), 3 + 3 + 1 + 4)
    assert.equal(await count(db, [1, 2, 3], true, 3), 8)
    assert.equal(await count(db, [1], true), await count(db, [1], false))
    // Visits that are folded after their day was counted: a new salt, so person 2 is another one.
    await visit(db, 2, today - 1, [2, 9])
    await rollUp(db)
    assert.equal(await count(db, [1, 2, 3], true), 10)
    assert.equal(await count(db, [2], false), 8)
    // A version without sketches counted the day.
    await db.write((tx) => tx.run("UPDATE link_visitor_day SET sketch = '' WHERE link_id = 2"))
    assert.equal(await count(db, [1, 2, 3], true), 4 + 3 + 5)
  })

  test('many visitors of one link are counted exactly, and estimated with those of another', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const people = Array.from({ length: 6_000 }, (_one, index) => index)
    await visit(db, 1, today - 1, people)
    await visit(db, 2, today - 1, people.slice(1_000))
    await rollUp(db)
    assert.equal(await count(db, [1], true), 6_000)
    const both = await count(db, [1, 2], true)
    assert.ok(both >= 6_000 && both < 7_500, String(both))
    assert.equal((await db.all('SELECT visitor FROM link_visitor')).length, 0)
  })
})
