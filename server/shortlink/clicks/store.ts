// Click counters by hour, rolled up into days, and unique visitors by day.
import { bulkInsert, insertRows } from '../../db/bulk-insert.ts'
import type { Queries, Tx } from '../../db/database.ts'
import { idList, moveRows, valueTable } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { type ClickCounter, type ClickCounts, maxNamedPerDay, otherReferrers } from './counts.ts'
import { hoursPerDay, shanghaiOffsetHours } from './hours.ts'
import type { VisitKind } from './user-agents.ts'
import { decodeSketch, encodeSketch } from './visitor-sketch.ts'

const keyColumns = 'link_id, hour, kind, device, browser, referrer'
const addToCounter = `ON CONFLICT (${keyColumns}) DO UPDATE SET clicks = link_click.clicks + excluded.clicks`

const counterInsert = bulkInsert(
  'link_click',
  {
    link_id: 'bigint',
    hour: 'bigint',
    kind: 'text',
    device: 'text',
    browser: 'text',
    referrer: 'text',
    clicks: 'bigint',
  },
  addToCounter,
)
const visitorInsert = bulkInsert(
  'link_visitor',
  { day: 'bigint', link_id: 'bigint', visitor: 'bigint' },
  'ON CONFLICT (day, link_id, visitor) DO NOTHING',
)
const visitorDayInsert = bulkInsert(
  'link_visitor_day',
  { link_id: 'bigint', day: 'bigint', visitors: 'bigint', sketch: 'text' },
  `ON CONFLICT (link_id, day) DO UPDATE SET visitors = link_visitor_day.visitors + excluded.visitors,
    sketch = excluded.sketch`,
)

const partInsert = bulkInsert(
  'link_click_part',
  { link_id: 'bigint', part: 'text', day: 'bigint', value: 'text', clicks: 'bigint' },
  'ON CONFLICT (link_id, part, day, value) DO UPDATE SET clicks = link_click_part.clicks + excluded.clicks',
)

/** Rows are written sorted by link, so that two processes cannot deadlock. */
export async function addClicks(tx: Tx, { counters, visitors, parts = [] }: ClickCounts): Promise<void> {
  await addTotals(tx, counters)
  await insertRows(tx, counterInsert, counters)
  await insertRows(tx, visitorInsert, visitors)
  await insertRows(tx, partInsert, parts)
}

async function addTotals(tx: Tx, counters: readonly ClickCounter[]): Promise<void> {
  const totals = new Map<number, { counted_id: number } & Record<VisitKind, number>>()
  for (const { link_id, kind, clicks } of counters) {
    let total = totals.get(link_id)
    if (!total) totals.set(link_id, (total = { counted_id: link_id, person: 0, bot: 0, preview: 0 }))
    total[kind] += clicks
  }
  if (totals.size === 0) return
  const columns = { counted_id: 'bigint', person: 'bigint', bot: 'bigint', preview: 'bigint' } as const
  const table = valueTable(tx, columns, [...totals.values()])
  await tx.run(
    `INSERT INTO link_total (link_id, account_id, clicks, bots, previews)
     SELECT n.counted_id, COALESCE(l.account_id, 0), n.person, n.bot, n.preview
     FROM ${table.sql} AS n LEFT JOIN link l ON l.id = n.counted_id WHERE true ORDER BY n.counted_id
     ON CONFLICT (link_id) DO UPDATE SET clicks = link_total.clicks + excluded.clicks,
       bots = link_total.bots + excluded.bots, previews = link_total.previews + excluded.previews`,
    table.values,
  )
}

export type ClickTotals = Readonly<Record<VisitKind, number>>

export async function findClickTotals(queries: Queries, linkId: number): Promise<ClickTotals> {
  const row = await queries.one<Pick<Tables['link_total'], 'clicks' | 'bots' | 'previews'>>(
    'SELECT clicks, bots, previews FROM link_total WHERE link_id = ?',
    [linkId],
  )
  return { person: row?.clicks ?? 0, bot: row?.bots ?? 0, preview: row?.previews ?? 0 }
}

/** Rows that one transaction of the rollup reads: short enough for other writers. */
const rowsPerStep = 5_000

const isNotRolledUp = `(hour + ${shanghaiOffsetHours}) % ${hoursPerDay} <> 0`
const firstHour = `hour - (hour + ${shanghaiOffsetHours}) % ${hoursPerDay}`

/** The last of some links after `after`; undefined when these are all. */
async function findLastOfStep(queries: Queries, after: number): Promise<number | undefined> {
  const last = await queries.one<Pick<Tables['link_click'], 'link_id'>>(
    `SELECT link_id FROM link_click WHERE link_id > ? ORDER BY link_id LIMIT 1 OFFSET ${rowsPerStep}`,
    [after],
  )
  return last?.link_id
}

/** One step of `rollUpHours` without a transaction, which others would wait for: most links have no hours to merge. */
export async function findHoursToMerge(
  queries: Queries,
  before: number,
  after: number,
): Promise<{ readonly found: boolean; readonly next: number | undefined }> {
  const next = await findLastOfStep(queries, after)
  const row = await queries.one(
    `SELECT link_id FROM link_click WHERE link_id > ? AND link_id <= ? AND hour < ? AND ${isNotRolledUp} LIMIT 1`,
    [after, next ?? Number.MAX_SAFE_INTEGER, before],
  )
  return { found: row !== undefined, next }
}

/** Merges hours before `before` into days, for some links after `after`. Returns where to continue, undefined at the end. */
export async function rollUpHours(tx: Tx, before: number, after: number): Promise<number | undefined> {
  const last = await findLastOfStep(tx, after)
  const key = `link_id, ${firstHour}, kind, device, browser, referrer`
  await moveRows(tx, {
    from: 'link_click',
    where: `link_id > ? AND link_id <= ? AND hour < ? AND ${isNotRolledUp}`,
    columns: `${keyColumns}, clicks`,
    values: [after, last ?? Number.MAX_SAFE_INTEGER, before],
    // The most frequent counters of a day keep their referrer.
    insert: (source) => `INSERT INTO link_click (${keyColumns}, clicks)
      SELECT link_id, first_hour, kind, device, browser, kept_referrer, SUM(clicks) FROM (
        SELECT link_id, first_hour, kind, device, browser, clicks, CASE WHEN referrer = '' OR place <= ${maxNamedPerDay}
          THEN referrer ELSE '${otherReferrers}' END AS kept_referrer
        FROM (SELECT link_id, ${firstHour} AS first_hour, kind, device, browser, referrer, SUM(clicks) AS clicks,
            ROW_NUMBER() OVER (PARTITION BY link_id, ${firstHour} ORDER BY SUM(clicks) DESC) AS place
          FROM ${source} AS hours GROUP BY ${key}) AS days) AS kept
      WHERE true GROUP BY link_id, first_hour, kind, device, browser, kept_referrer ${addToCounter}`,
  })
  return last
}

/** Replaces some visitor hashes of a day before `before` by their number. Returns the day, undefined when none is left. */
export async function countVisitors(tx: Tx, before: number): Promise<number | undefined> {
  const first = await tx.one<Pick<Tables['link_visitor'], 'day' | 'link_id'>>(
    'SELECT day, link_id FROM link_visitor WHERE day < ? ORDER BY day, link_id LIMIT 1',
    [before],
  )
  if (!first) {
    await tx.run('DELETE FROM link_salt WHERE day < ?', [before])
    return undefined
  }
  const last = await tx.one<Pick<Tables['link_visitor'], 'link_id'>>(
    `SELECT link_id FROM link_visitor WHERE day = ? AND link_id > ? ORDER BY link_id LIMIT 1 OFFSET ${rowsPerStep}`,
    [first.day, first.link_id],
  )
  const deleted = await tx.all<Pick<Tables['link_visitor'], 'link_id' | 'visitor'>>(
    'DELETE FROM link_visitor WHERE day = ? AND link_id <= ? RETURNING link_id, visitor',
    [first.day, last?.link_id ?? Number.MAX_SAFE_INTEGER],
  )
  const hashes = Map.groupBy(deleted, ({ link_id }) => link_id)
  const known = await findVisitorDays(tx, [...hashes.keys()], first.day)
  const rows = [...hashes].map(([link_id, ofLink]) => {
    const counted = known.get(link_id)
    const visitors = ofLink.map(({ visitor }) => visitor)
    if (counted !== undefined) visitors.push(...decodeSketch(counted.sketch))
    const sketch = counted?.sketch === '' ? '' : encodeSketch(visitors)
    return { link_id, day: first.day, visitors: ofLink.length, sketch }
  })
  await insertRows(
    tx,
    visitorDayInsert,
    rows.sort((a, b) => a.link_id - b.link_id),
  )
  return first.day
}

/** Visits that were in the journal when the visitors of the day were counted. */
async function findVisitorDays(
  tx: Tx,
  linkIds: readonly number[],
  day: number,
): Promise<Map<number, Pick<Tables['link_visitor_day'], 'link_id' | 'sketch'>>> {
  const list = idList(tx, linkIds)
  const rows = await tx.all<Pick<Tables['link_visitor_day'], 'link_id' | 'sketch'>>(
    `SELECT link_id, sketch FROM link_visitor_day WHERE link_id IN ${list.sql} AND day = ?`,
    [list.value, day],
  )
  return new Map(rows.map((row) => [row.link_id, row]))
}
