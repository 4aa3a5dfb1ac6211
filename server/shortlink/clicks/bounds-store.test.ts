// One link adds a bounded number of rows, whatever its visitors send; its totals do not read them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import type { Database } from '../../db/database.ts'
import { maxNamedPerDay, maxNamedPerHour, maxReferrersPerDay, maxVisitorsPerDay } from './counts.ts'
import { dayOfHour, firstHourOfDay, hourOf } from './hours.ts'
import { appendVisits, foldStep } from './journal-store.ts'
import { findClickTotals, rollUpHours } from './store.ts'
import { describeAgent } from './user-agents.ts'
import type { VisitRow } from './visit-buffer.ts'

const hour = firstHourOfDay(dayOfHour(hourOf(Date.now()))) + 5
const agents = ['Windows NT 10.0', 'iPhone Mobile', 'iPad', 'X11'].flatMap((device) =>
  ['Chrome/141', 'Firefox/140', 'Safari/605', 'MicroMessenger', 'Edg/141', 'QQ/9', 'OPR/90'].map((browser) =>
    describeAgent(`Mozilla/5.0 (${device}) ${browser}`),
  ),
)

function visitOf(more: Partial<VisitRow> = {}): VisitRow {
  return {
    linkId: 1,
    hour,
    agent: agents[0]!,
    isPrefetch: false,
    referrer: '',
    address: '',
    clicks: 1,
    ...more,
  }
}

async function count(db: Database, visits: readonly VisitRow[]): Promise<void> {
  await db.write((tx) => appendVisits(tx, randomUUID(), visits))
  let upTo: number | undefined
  do upTo = await foldStep(db, upTo)
  while (upTo !== undefined)
}

async function countRows(db: Database, where = 'true'): Promise<number> {
  const row = await db.one<{ rows: number }>(`SELECT COUNT(*) AS rows FROM link_click WHERE ${where}`)
  return row!.rows
}

onEachEngine('bounds of the click counters', (engine) => {
  test('keep a link with a thousand referrers at a hundred rows a day, and count every click', async () => {
    await using fresh = await freshDatabase(engine)
    const other = fresh.storage.open()
    for (let i = 0; i < 1_000; i += 20) {
      const visits = Array.from({ length: 20 }, (_, k) =>
        visitOf({ referrer: `site${i + k}.test`, hour: hour + (i % 3) }),
      )
      await count(i % 40 === 0 ? fresh.db : other, visits)
    }
    await other.close()
    assert.equal(await countRows(fresh.db, `referrer <> '*'`), maxReferrersPerDay)
    assert.ok((await countRows(fresh.db)) <= maxReferrersPerDay + 3)
    // A known referrer keeps its own counter.
    await count(fresh.db, [visitOf({ referrer: 'site0.test' })])
    const [known] = await fresh.db.all<{ clicks: number }>(
      `SELECT SUM(clicks) AS clicks FROM link_click WHERE referrer = 'site0.test'`,
    )
    assert.equal(Number(known!.clicks), 2)
    assert.equal((await findClickTotals(fresh.db, 1)).person, 1_001)
  })

  test('keep a link with many browsers and referrers small in an hour, and after the rollup in a day', async () => {
    await using fresh = await freshDatabase(engine)
    for (const h of [hour, hour + 1]) {
      for (const agent of agents) {
        const visits = Array.from({ length: 40 }, (_, k) =>
          visitOf({ agent, hour: h, referrer: `site${h}-${k}.test` }),
        )
        await count(fresh.db, visits)
      }
    }
    const named = `referrer NOT IN ('', '*')`
    assert.equal(await countRows(fresh.db, `${named} AND hour = ${hour}`), maxNamedPerHour)
    assert.ok((await countRows(fresh.db)) <= 2 * (maxNamedPerHour + agents.length))
    await fresh.db.write((tx) => rollUpHours(tx, hour + 24, 0))
    assert.ok((await countRows(fresh.db, named)) <= maxNamedPerDay)
    const [sum] = await fresh.db.all<{ clicks: number }>('SELECT SUM(clicks) AS clicks FROM link_click')
    assert.equal(Number(sum!.clicks), 2 * agents.length * 40)
  })

  test('count at most a hundred thousand visitors of a link and day', async () => {
    await using fresh = await freshDatabase(engine)
    const day = dayOfHour(hour)
    await fresh.db.write((tx) =>
      tx.run(
        `INSERT INTO link_visitor (day, link_id, visitor) WITH RECURSIVE n (i) AS (
           SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${maxVisitorsPerDay})
         SELECT ${day}, 1, i FROM n`,
      ),
    )
    await count(fresh.db, [
      visitOf({ address: '203.0.113.1' }),
      visitOf({ linkId: 2, address: '203.0.113.1' }),
    ])
    const rows = await fresh.db.all<{ link_id: number; visitors: number }>(
      'SELECT link_id, COUNT(*) AS visitors FROM link_visitor GROUP BY link_id ORDER BY link_id',
    )
    assert.deepEqual(
      rows.map(({ visitors }) => visitors),
      [maxVisitorsPerDay, 1],
    )
  })

  test('do not slow the totals down: they are read from one row', async () => {
    await using fresh = await freshDatabase(engine)
    await count(fresh.db, [visitOf({ clicks: 3 }), visitOf({ agent: describeAgent('curl/8'), clicks: 2 })])
    await fresh.db.write((tx) => tx.run('DELETE FROM link_click'))
    assert.deepEqual(await findClickTotals(fresh.db, 1), { person: 3, bot: 2, preview: 0 })
  })
})
