// The queries of `stats`: counters of some links between two days.
import type { Queries } from '../../db/database.ts'
import { idList } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import type { ClickPart } from '../../db/schema/shortlink.ts'
import type { VisitKind } from '../clicks/user-agents.ts'

export interface StatRange {
  readonly fromHour: number
  /** Exclusive. */
  readonly toHour: number
  readonly fromDay: number
  /** Exclusive. */
  readonly toDay: number
}

/** Whether a tag has more links than this. */
export async function hasMoreLinks(
  queries: Queries,
  { accountId, tag }: { readonly accountId: number; readonly tag: string },
  max: number,
): Promise<boolean> {
  const row = await queries.one(
    `SELECT link_id FROM link_tag WHERE account_id = ? AND tag = ? ORDER BY link_id LIMIT 1 OFFSET ${max}`,
    [accountId, tag],
  )
  return row !== undefined
}

/** The next links of a tag that were ever visited, in the order of their ids. */
export async function listTagged(
  queries: Queries,
  accountId: number,
  tag: string,
  after: number,
  limit: number,
): Promise<number[]> {
  const rows = await queries.all<Pick<Tables['link_tag'], 'link_id'>>(
    `SELECT t.link_id FROM link_tag t JOIN link_total c ON c.link_id = t.link_id
     WHERE t.account_id = ? AND t.tag = ? AND t.link_id > ? ORDER BY t.link_id LIMIT ${limit}`,
    [accountId, tag, after],
  )
  return rows.map(({ link_id }) => link_id)
}

export interface HourCount {
  readonly hour: number
  readonly kind: VisitKind
  readonly clicks: number
}

export async function sumHours(
  queries: Queries,
  ids: readonly number[],
  { fromHour, toHour }: StatRange,
): Promise<HourCount[]> {
  const list = idList(queries, ids)
  const rows = await queries.all<HourCount>(
    `SELECT hour, kind, SUM(clicks) AS clicks FROM link_click
     WHERE link_id IN ${list.sql} AND hour >= ? AND hour < ? GROUP BY hour, kind`,
    [list.value, fromHour, toHour],
  )
  return rows.map((row) => ({ ...row, clicks: Number(row.clicks) }))
}

export interface ValueCount {
  readonly value: string
  readonly clicks: number
}

/** People's clicks by a column of the hourly counters. */
export async function sumColumn(
  queries: Queries,
  ids: readonly number[],
  { fromHour, toHour }: StatRange,
  column: 'device' | 'browser' | 'referrer',
): Promise<ValueCount[]> {
  const list = idList(queries, ids)
  const rows = await queries.all<ValueCount>(
    `SELECT ${column} AS value, SUM(clicks) AS clicks FROM link_click
     WHERE link_id IN ${list.sql} AND hour >= ? AND hour < ? AND kind = 'person' GROUP BY ${column}`,
    [list.value, fromHour, toHour],
  )
  return rows.map((row) => ({ ...row, clicks: Number(row.clicks) }))
}

/** People's clicks by a property that has daily counters. Unknown values are not in the result. */
export async function sumPart(
  queries: Queries,
  ids: readonly number[],
  { fromDay, toDay }: StatRange,
  part: ClickPart,
): Promise<ValueCount[]> {
  const list = idList(queries, ids)
  const rows = await queries.all<ValueCount>(
    `SELECT value, SUM(clicks) AS clicks FROM link_click_part
     WHERE link_id IN ${list.sql} AND part = ? AND day >= ? AND day < ? GROUP BY value`,
    [list.value, part, fromDay, toDay],
  )
  return rows.map((row) => ({ ...row, clicks: Number(row.clicks) }))
}

/** Distinct visitors of a link by day, summed. The latest days are still stored as hashes. */
export async function countVisitorDays(
  queries: Queries,
  linkId: number,
  { fromDay, toDay }: StatRange,
): Promise<number> {
  const counted = await queries.one<{ visitors: number | null }>(
    'SELECT SUM(visitors) AS visitors FROM link_visitor_day WHERE link_id = ? AND day >= ? AND day < ?',
    [linkId, fromDay, toDay],
  )
  let visitors = Number(counted?.visitors ?? 0)
  for (const day of await listHashedDays(queries, { fromDay, toDay })) {
    const row = await queries.one<{ visitors: number }>(
      'SELECT COUNT(*) AS visitors FROM link_visitor WHERE day = ? AND link_id = ?',
      [day, linkId],
    )
    visitors += Number(row?.visitors ?? 0)
  }
  return visitors
}

type StatDays = Pick<StatRange, 'fromDay' | 'toDay'>

/** Days whose visitors are still stored as hashes. */
export async function listHashedDays(queries: Queries, { fromDay, toDay }: StatDays): Promise<number[]> {
  const rows = await queries.all<Pick<Tables['link_salt'], 'day'>>(
    'SELECT day FROM link_salt WHERE day >= ? AND day < ? ORDER BY day',
    [fromDay, toDay],
  )
  return rows.map(({ day }) => day)
}

/** How many rows `listVisitorDays` would read, and their visitors added up. */
export async function sumVisitorDays(
  queries: Queries,
  ids: readonly number[],
  { fromDay, toDay }: StatDays,
): Promise<{ readonly rows: number; readonly visitors: number }> {
  const list = idList(queries, ids)
  const row = await queries.one<{ rows: number; visitors: number | null }>(
    `SELECT COUNT(*) AS rows, SUM(visitors) AS visitors FROM link_visitor_day
     WHERE link_id IN ${list.sql} AND day >= ? AND day < ?`,
    [list.value, fromDay, toDay],
  )
  return { rows: Number(row?.rows ?? 0), visitors: Number(row?.visitors ?? 0) }
}

export type VisitorDay = Pick<Tables['link_visitor_day'], 'day' | 'visitors' | 'sketch'>

export function listVisitorDays(
  queries: Queries,
  ids: readonly number[],
  { fromDay, toDay }: StatDays,
): Promise<VisitorDay[]> {
  const list = idList(queries, ids)
  return queries.all<VisitorDay>(
    `SELECT day, visitors, sketch FROM link_visitor_day WHERE link_id IN ${list.sql} AND day >= ? AND day < ?`,
    [list.value, fromDay, toDay],
  )
}

/** The smallest hashes of the visitors of some links on a day. */
export async function listVisitorHashes(
  queries: Queries,
  ids: readonly number[],
  { day, below, limit }: { readonly day: number; readonly below: number; readonly limit: number },
): Promise<number[]> {
  const list = idList(queries, ids)
  const rows = await queries.all<Pick<Tables['link_visitor'], 'visitor'>>(
    `SELECT DISTINCT visitor FROM link_visitor WHERE day = ? AND link_id IN ${list.sql} AND visitor < ?
     ORDER BY visitor LIMIT ${limit}`,
    [day, list.value, below],
  )
  return rows.map(({ visitor }) => visitor)
}
