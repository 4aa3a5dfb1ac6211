// Click counters by hour, rolled up into days, and unique visitors by day.
import { bulkInsert, insertRows } from '../../db/bulk-insert.ts'
import type { Queries, Tx } from '../../db/database.ts'
import { moveRows, valueTable } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import type { ClickCounter, ClickCounts } from './counts.ts'
import { hoursPerDay, shanghaiOffsetHours } from './hours.ts'
import type { VisitKind } from './user-agents.ts'

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

/** Rows are written sorted by link, so that two processes cannot deadlock. */
export async function addClicks(tx: Tx, { counters, visitors }: ClickCounts): Promise<void> {
  await addTotals(tx, counters)
  await insertRows(tx, counterInsert, counters)
  await insertRows(tx, visitorInsert, visitors)
}

async function addTotals(tx: Tx, counters: readonly ClickCounter[]): Promise<void> {
  const totals = new Map<number, number>()
  for (const { link_id, kind, clicks } of counters) {
    if (kind === 'person') totals.set(link_id, (totals.get(link_id) ?? 0) + clicks)
  }
  if (totals.size === 0) return
  const rows = Array.from(totals, ([link_id, clicks]) => ({ link_id, clicks }))
  const table = valueTable(tx, { link_id: 'bigint', clicks: 'bigint' }, rows)
  await tx.run(
    `INSERT INTO link_total (link_id, account_id, clicks)
     SELECT l.id, l.account_id, n.clicks FROM ${table.sql} AS n JOIN link l ON l.id = n.link_id WHERE true ORDER BY l.id
     ON CONFLICT (link_id) DO UPDATE SET clicks = link_total.clicks + excluded.clicks`,
    table.values,
  )
}

export type ClickTotals = Readonly<Record<VisitKind, number>>

export async function findClickTotals(queries: Queries, linkId: number): Promise<ClickTotals> {
  const rows = await queries.all<Pick<Tables['link_click'], 'kind' | 'clicks'>>(
    'SELECT kind, SUM(clicks) AS clicks FROM link_click WHERE link_id = ? GROUP BY kind',
    [linkId],
  )
  const totals = { person: 0, bot: 0, preview: 0 }
  for (const row of rows) totals[row.kind] = Number(row.clicks)
  return totals
}

/** Rows that one transaction of the rollup reads: short enough for other writers. */
const rowsPerStep = 5_000

const isNotRolledUp = `(hour + ${shanghaiOffsetHours}) % ${hoursPerDay} <> 0`
const firstHour = `hour - (hour + ${shanghaiOffsetHours}) % ${hoursPerDay}`

/** Merges hours before `before` into days, for some links after `after`. Returns where to continue, undefined at the end. */
export async function rollUpHours(tx: Tx, before: number, after: number): Promise<number | undefined> {
  const last = await tx.one<Pick<Tables['link_click'], 'link_id'>>(
    `SELECT link_id FROM link_click WHERE link_id > ? ORDER BY link_id LIMIT 1 OFFSET ${rowsPerStep}`,
    [after],
  )
  const group = `link_id, ${firstHour}, kind, device, browser, referrer`
  await moveRows(tx, {
    from: 'link_click',
    where: `link_id > ? AND link_id <= ? AND hour < ? AND ${isNotRolledUp}`,
    columns: `${keyColumns}, clicks`,
    values: [after, last?.link_id ?? Number.MAX_SAFE_INTEGER, before],
    insert: (source) => `INSERT INTO link_click (${keyColumns}, clicks)
      SELECT ${group}, SUM(clicks) FROM ${source} GROUP BY ${group} ${addToCounter}`,
  })
  return last?.link_id
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
  await moveRows(tx, {
    from: 'link_visitor',
    where: 'day = ? AND link_id <= ?',
    columns: 'link_id, day',
    values: [first.day, last?.link_id ?? Number.MAX_SAFE_INTEGER],
    insert: (source) => `INSERT INTO link_visitor_day (link_id, day, visitors)
      SELECT link_id, day, COUNT(*) FROM ${source} GROUP BY link_id, day
      ON CONFLICT (link_id, day) DO UPDATE SET visitors = link_visitor_day.visitors + excluded.visitors`,
  })
  return first.day
}
