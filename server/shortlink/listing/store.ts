// Queries for the list of an account's links: pages, slices for searches, and click statistics.
import { sql } from 'kysely'
import type { LinkState, RedirectType } from '../../../contract/shortlink.ts'
import type { Queries } from '../../db/database.ts'
import { byteOrder, idList } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { containsText } from '../../db/text-search.ts'
import { firstIdAtOrAfter } from '../../db/time-ordered.ts'
import { hoursPerDay, shanghaiOffsetHours } from '../clicks/hours.ts'
import { type Link, linkColumns } from '../store.ts'
import { stateCondition } from './record-store.ts'

export interface IdRange {
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

/** Ids are assigned in the order of time, so a range of time is a range of ids. */
export async function findIdRange(
  queries: Queries,
  { start, end }: { start?: number | undefined; end?: number | undefined },
): Promise<IdRange> {
  const firstId = (ms: number) => firstIdAtOrAfter(queries, { table: 'link', time: 'created_at' }, ms)
  return {
    from: start === undefined ? 0 : await firstId(start),
    to: end === undefined ? Number.MAX_SAFE_INTEGER : await firstId(end),
  }
}

/** Counts at most `limit` links from `range.from` on, and returns the last of them. */
export async function countLinks(
  queries: Queries,
  accountId: number,
  range: IdRange,
  limit: number,
): Promise<{ readonly count: number; readonly last: number | null }> {
  const row = await queries.one<{ count: number; last: number | null }>(
    `SELECT COUNT(*) AS count, MAX(id) AS last FROM (SELECT id FROM link WHERE account_id = ? AND id >= ? AND id < ?
       ORDER BY id LIMIT ${limit}) AS counted`,
    [accountId, range.from, range.to],
  )
  return { count: row?.count ?? 0, last: row?.last ?? null }
}

/** Sorted by age; reads only the index. */
export async function listIdsByAge(
  queries: Queries,
  accountId: number,
  range: IdRange,
  page: { order: 'asc' | 'desc'; limit: number; offset: number },
): Promise<number[]> {
  const rows = await queries.all<Pick<Tables['link'], 'id'>>(
    `SELECT id FROM link WHERE account_id = ? AND id >= ? AND id < ?
     ORDER BY id ${page.order === 'asc' ? 'ASC' : 'DESC'} LIMIT ? OFFSET ?`,
    [accountId, range.from, range.to, page.limit, page.offset],
  )
  return rows.map(({ id }) => id)
}

/** Sorted by people's clicks, all links of the account. Links without clicks are not in `link_total`; they are sorted by age. */
export async function listIdsByClicks(
  queries: Queries,
  accountId: number,
  { order, limit, offset }: { order: 'asc' | 'desc'; limit: number; offset: number },
): Promise<number[]> {
  const direction = order === 'asc' ? 'ASC' : 'DESC'
  const clicked = `SELECT link_id AS id FROM link_total WHERE account_id = ? AND clicks > 0
    ORDER BY clicks ${direction}, link_id ${direction}`
  const unclicked = `SELECT l.id FROM link l WHERE l.account_id = ? AND NOT EXISTS
    (SELECT 1 FROM link_total t WHERE t.link_id = l.id AND t.clicks > 0) ORDER BY l.id ${direction}`
  const [first, second] = order === 'desc' ? [clicked, unclicked] : [unclicked, clicked]
  const listIds = async (query: string, max: number, skip: number): Promise<number[]> => {
    const rows = await queries.all<Pick<Tables['link'], 'id'>>(`${query} LIMIT ? OFFSET ?`, [
      accountId,
      max,
      skip,
    ])
    return rows.map(({ id }) => id)
  }
  const ids = await listIds(first, limit, offset)
  if (ids.length === limit) return ids
  let skip = 0
  if (ids.length === 0) {
    const counts = await queries.one<{ links: number; clicked: number }>(
      `SELECT (SELECT COUNT(*) FROM link WHERE account_id = ?) AS links,
         (SELECT COUNT(*) FROM link_total WHERE account_id = ? AND clicks > 0) AS clicked`,
      [accountId, accountId],
    )
    const firstCount = order === 'desc' ? counts!.clicked : counts!.links - counts!.clicked
    skip = Math.max(0, offset - firstCount)
  }
  return [...ids, ...(await listIds(second, limit - ids.length, skip))]
}

export interface SliceSearch {
  /** Part of the title or of the target. */
  readonly text: string | undefined
  readonly redirectType: RedirectType | undefined
  readonly tag: string | undefined
  readonly state: LinkState | undefined
  readonly withClicks: boolean
  /** Only links that are not sorted after this one. */
  readonly notAfter?:
    | { readonly sort: 'clicks' | 'title'; readonly order: 'asc' | 'desc'; readonly row: SliceRow }
    | undefined
}

export interface SliceRow {
  readonly id: number
  readonly title: string
  readonly clicks: number
}

export interface LinkSlice {
  readonly rows: readonly SliceRow[]
  /** The end of the next slice; undefined after the last one. */
  readonly next: number | undefined
}

/** Searches the last `size` links below `range.to`, so that each query does a bounded amount of work. */
export async function findSlice(
  queries: Queries,
  accountId: number,
  range: IdRange,
  { text, redirectType, tag, state, withClicks, notAfter }: SliceSearch,
  size: number,
): Promise<LinkSlice> {
  const last =
    tag === undefined
      ? await queries.one<Pick<Tables['link'], 'id'>>(
          `SELECT id FROM link WHERE account_id = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ${size}`,
          [accountId, range.from, range.to],
        )
      : await queries.one<Pick<Tables['link'], 'id'>>(
          `SELECT link_id AS id FROM link_tag WHERE account_id = ? AND tag = ? AND link_id >= ? AND link_id < ?
           ORDER BY link_id DESC LIMIT 1 OFFSET ${size}`,
          [accountId, tag, range.from, range.to],
        )
  const clicks = withClicks
    ? sql<number>`COALESCE((SELECT t.clicks FROM link_total t WHERE t.link_id = l.id), 0)`
    : sql<number>`0`
  let query = queries.kysely
    .selectFrom('link as l')
    .select(['l.id', 'l.title', clicks.as('clicks')])
    .where('l.account_id', '=', accountId)
    .where('l.id', '>=', last === undefined ? range.from : last.id + 1)
    .where('l.id', '<', range.to)
  if (tag !== undefined) {
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('link_tag as g')
          .select('g.link_id')
          .whereRef('g.link_id', '=', 'l.id')
          .where('g.account_id', '=', accountId)
          .where('g.tag', '=', tag),
      ),
    )
  }
  if (state !== undefined) query = query.where(stateCondition(state, Date.now()))
  if (redirectType !== undefined) query = query.where('l.redirect_type', '=', redirectType)
  if (text !== undefined) {
    const columns = ['l.title', 'l.target_url']
    query = query.where(({ or }) => or(columns.map((column) => containsText(queries, column, text))))
  }
  if (notAfter) {
    const { sort, order, row } = notAfter
    const column = sort === 'clicks' ? clicks : sql<string>`${sql.raw(byteOrder(queries, 'l.title'))}`
    query = query.where(column, order === 'asc' ? '<=' : '>=', row[sort])
  }
  const rows = await query.execute()
  return { rows: rows.map((row) => ({ ...row, clicks: Number(row.clicks) })), next: last && last.id + 1 }
}

/** The first tags of an account, each found in the index without reading the links of the one before. */
export async function listTags(queries: Queries, accountId: number, limit: number): Promise<string[]> {
  const rows = await queries.all<Pick<Tables['link_tag'], 'tag'>>(
    `WITH RECURSIVE found (tag) AS (
       SELECT MIN(tag) FROM link_tag WHERE account_id = ?
       UNION ALL
       SELECT (SELECT MIN(g.tag) FROM link_tag g WHERE g.account_id = ? AND g.tag > found.tag) FROM found
       WHERE found.tag IS NOT NULL)
     SELECT tag FROM found WHERE tag IS NOT NULL LIMIT ${limit}`,
    [accountId, accountId],
  )
  return rows.map(({ tag }) => tag)
}

/** In any order; only links of this account. */
export function listLinks(queries: Queries, accountId: number, ids: readonly number[]): Promise<Link[]> {
  const list = idList(queries, ids)
  return queries.all<Link>(
    `SELECT ${linkColumns} FROM link l WHERE l.account_id = ? AND l.id IN ${list.sql}`,
    [accountId, list.value],
  )
}

export type TotalRow = Readonly<Tables['link_total']>

export function listTotals(queries: Queries, ids: readonly number[]): Promise<TotalRow[]> {
  const list = idList(queries, ids)
  return queries.all<TotalRow>(
    `SELECT link_id, account_id, clicks, bots, previews FROM link_total WHERE link_id IN ${list.sql}`,
    [list.value],
  )
}

export interface DailyRow {
  readonly link_id: number
  /** Shanghai days since 1970. */
  readonly day: number
  readonly clicks: number
}

/** People's clicks by day, from an hour on. */
export async function listDaily(
  queries: Queries,
  ids: readonly number[],
  fromHour: number,
): Promise<DailyRow[]> {
  const list = idList(queries, ids)
  const day = `(hour + ${shanghaiOffsetHours}) / ${hoursPerDay}`
  const rows = await queries.all<DailyRow>(
    `SELECT link_id, ${day} AS day, SUM(clicks) AS clicks FROM link_click
     WHERE link_id IN ${list.sql} AND hour >= ? AND kind = 'person' GROUP BY link_id, ${day}`,
    [list.value, fromHour],
  )
  return rows.map((row) => ({ ...row, clicks: Number(row.clicks) }))
}

export type HourRow = Readonly<Pick<Tables['link_click'], 'hour' | 'kind' | 'clicks'>>

/** Old days are rolled up into their first hour. */
export async function listHours(
  queries: Queries,
  linkId: number,
  range: { fromHour: number; toHour: number },
): Promise<HourRow[]> {
  const rows = await queries.all<HourRow>(
    `SELECT hour, kind, SUM(clicks) AS clicks FROM link_click WHERE link_id = ? AND hour >= ? AND hour < ?
     GROUP BY hour, kind`,
    [linkId, range.fromHour, range.toHour],
  )
  return rows.map((row) => ({ ...row, clicks: Number(row.clicks) }))
}

export interface NamedClicks {
  readonly name: string
  readonly count: number
}

/** People's clicks by the values of a column, the most frequent first. */
export async function listShares(
  queries: Queries,
  linkId: number,
  range: { fromHour: number; toHour: number },
  column: 'referrer' | 'device' | 'browser',
): Promise<NamedClicks[]> {
  const rows = await queries.all<NamedClicks>(
    `SELECT ${column} AS name, SUM(clicks) AS count FROM link_click
     WHERE link_id = ? AND hour >= ? AND hour < ? AND kind = 'person'
     GROUP BY ${column} ORDER BY SUM(clicks) DESC, ${column} LIMIT 100`,
    [linkId, range.fromHour, range.toHour],
  )
  return rows.map((row) => ({ ...row, count: Number(row.count) }))
}
