// Links as their owner lists them: pages, slices for a walk through all of them, and their clicks.
import type { RedirectType } from '../../../contract/shortlink.ts'
import type { Queries, Value } from '../../db/database.ts'
import { firstIdAtOrAfter } from '../../db/time-ordered.ts'
import type { VisitKind } from '../clicks/user-agents.ts'
import { hoursPerDay, shanghaiOffsetHours } from '../clicks/hours.ts'
import { type Link, linkColumns } from '../store.ts'

/** A list of ids in one value, for either engine. */
function idList(queries: Queries, ids: readonly number[]): { readonly sql: string; readonly value: Value } {
  return queries.engine === 'sqlite'
    ? { sql: '(SELECT value FROM json_each(?))', value: JSON.stringify(ids) }
    : { sql: '(SELECT unnest(CAST(? AS bigint[])))', value: ids }
}

export interface IdRange {
  /** The first id, and the first one after the last. */
  readonly from: number
  readonly to: number
}

/** Ids follow time, so days are ids. */
export async function idRangeOf(
  queries: Queries,
  { start, end }: { start?: number | undefined; end?: number | undefined },
): Promise<IdRange> {
  const border = (moment: number) => firstIdAtOrAfter(queries, { table: 'link', time: 'created_at' }, moment)
  return {
    from: start === undefined ? 0 : await border(start),
    to: end === undefined ? Number.MAX_SAFE_INTEGER : await border(end),
  }
}

/** How many links there are from `range.from` on, up to `most`, and where the counting ended. */
export async function countSome(
  queries: Queries,
  accountId: number,
  range: IdRange,
  most: number,
): Promise<{ readonly count: number; readonly last: number | null }> {
  const row = await queries.one<{ count: number; last: number | null }>(
    `SELECT COUNT(*) AS count, MAX(id) AS last FROM (SELECT id FROM link WHERE account_id = ? AND id >= ? AND id < ?
       ORDER BY id LIMIT ${most}) AS counted`,
    [accountId, range.from, range.to],
  )
  return { count: row?.count ?? 0, last: row?.last ?? null }
}

/** By age: the index alone is read up to the page. */
export async function findIdsByAge(
  queries: Queries,
  accountId: number,
  range: IdRange,
  page: { order: 'asc' | 'desc'; limit: number; offset: number },
): Promise<number[]> {
  const rows = await queries.all<{ id: number }>(
    `SELECT id FROM link WHERE account_id = ? AND id >= ? AND id < ?
     ORDER BY id ${page.order === 'asc' ? 'ASC' : 'DESC'} LIMIT ? OFFSET ?`,
    [accountId, range.from, range.to, page.limit, page.offset],
  )
  return rows.map(({ id }) => id)
}

/**
 * By people's visits, all links of the account. Those that somebody visited stand in the order of an index; those that
 * nobody visited come after them (before them when the fewest come first), by age.
 */
export async function findIdsByClicks(
  queries: Queries,
  accountId: number,
  { order, limit, offset }: { order: 'asc' | 'desc'; limit: number; offset: number },
): Promise<number[]> {
  const way = order === 'asc' ? 'ASC' : 'DESC'
  const visited = {
    sql: `SELECT link_id AS id FROM link_total WHERE account_id = ? ORDER BY clicks ${way}, link_id ${way}`,
    count: 'SELECT COUNT(*) AS count FROM link_total WHERE account_id = ?',
  }
  const unvisited = {
    sql: `SELECT l.id FROM link l WHERE l.account_id = ? AND NOT EXISTS
      (SELECT 1 FROM link_total t WHERE t.link_id = l.id) ORDER BY l.id ${way}`,
    count: `SELECT (SELECT COUNT(*) FROM link WHERE account_id = ?) -
      (SELECT COUNT(*) FROM link_total WHERE account_id = ?) AS count`,
  }
  const [first, second] = order === 'desc' ? [visited, unvisited] : [unvisited, visited]
  const some = async (sql: string, most: number, from: number): Promise<number[]> => {
    const rows = await queries.all<{ id: number }>(`${sql} LIMIT ? OFFSET ?`, [accountId, most, from])
    return rows.map(({ id }) => id)
  }
  const ids = await some(first.sql, limit, offset)
  if (ids.length === limit) return ids
  const accounts = first === visited ? [accountId] : [accountId, accountId]
  const row = ids.length > 0 ? undefined : await queries.one<{ count: number }>(first.count, accounts)
  const from = row === undefined ? 0 : Math.max(0, offset - row.count)
  return [...ids, ...(await some(second.sql, limit - ids.length, from))]
}

export interface SliceSearch {
  /** Part of the title or of the target, in lower case. */
  readonly text: string | undefined
  readonly redirectType: RedirectType | undefined
  readonly withClicks: boolean
  /** Only what comes before this one, or level with it, in the order by clicks or title. */
  readonly better?:
    | { readonly sort: string; readonly order: 'asc' | 'desc'; readonly than: SliceRow }
    | undefined
}

export interface SliceRow {
  readonly id: number
  readonly title: string
  readonly clicks: number
}

export interface Slice {
  readonly rows: readonly SliceRow[]
  /** Where the next slice begins; undefined at the end. */
  readonly next: number | undefined
}

/** What fits among the next so many links below `range.to`: bounded work, whatever is looked for. */
export async function findSlice(
  queries: Queries,
  accountId: number,
  range: IdRange,
  search: SliceSearch,
  size: number,
): Promise<Slice> {
  const last = await queries.one<{ id: number }>(
    `SELECT id FROM link WHERE account_id = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ${size}`,
    [accountId, range.from, range.to],
  )
  const terms = ['l.account_id = ?', 'l.id >= ?', 'l.id < ?']
  const values: Value[] = [accountId, last === undefined ? range.from : last.id + 1, range.to]
  if (search.redirectType !== undefined) {
    terms.push('l.redirect_type = ?')
    values.push(search.redirectType)
  }
  if (search.text !== undefined) {
    const like = `%${search.text.replaceAll(/[!%_]/g, '!$&')}%`
    terms.push(`(LOWER(l.title) LIKE ? ESCAPE '!' OR LOWER(l.target_url) LIKE ? ESCAPE '!')`)
    values.push(like, like)
  }
  const clicks = search.withClicks
    ? `COALESCE((SELECT t.clicks FROM link_total t WHERE t.link_id = l.id), 0)`
    : '0'
  const { better } = search
  const column = better?.sort === 'clicks' ? 'clicks' : better?.sort === 'title' ? 'title' : undefined
  let bound = ''
  if (better && column) {
    // The order of bytes, whatever language PostgreSQL was set up for; SQLite's is that already.
    const term = column === 'title' && queries.engine === 'postgres' ? 'title COLLATE "C"' : column
    bound = `WHERE ${term} ${better.order === 'asc' ? '<=' : '>='} ?`
    values.push(better.than[column])
  }
  const rows = await queries.all<SliceRow>(
    `SELECT * FROM (SELECT l.id, l.title, ${clicks} AS clicks FROM link l WHERE ${terms.join(' AND ')}) AS found ${bound}`,
    values,
  )
  return { rows: rows.map((row) => ({ ...row, clicks: Number(row.clicks) })), next: last && last.id + 1 }
}

/** In no order; of this account only. */
export function findLinks(queries: Queries, accountId: number, ids: readonly number[]): Promise<Link[]> {
  const list = idList(queries, ids)
  return queries.all<Link>(
    `SELECT ${linkColumns} FROM link l WHERE l.account_id = ? AND l.id IN ${list.sql}`,
    [accountId, list.value],
  )
}

export interface TotalRow {
  readonly link_id: number
  readonly kind: VisitKind
  readonly clicks: number
}

export async function findTotals(queries: Queries, ids: readonly number[]): Promise<TotalRow[]> {
  const list = idList(queries, ids)
  const rows = await queries.all<TotalRow>(
    `SELECT link_id, kind, SUM(clicks) AS clicks FROM link_click WHERE link_id IN ${list.sql}
     GROUP BY link_id, kind`,
    [list.value],
  )
  return rows.map((row) => ({ ...row, clicks: Number(row.clicks) }))
}

export interface DailyRow {
  readonly link_id: number
  /** Days of Shanghai since 1970. */
  readonly day: number
  readonly clicks: number
}

/** People's visits a day from an hour on. */
export async function findDaily(
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

export interface HourRow {
  readonly hour: number
  readonly kind: VisitKind
  readonly clicks: number
}

/** Hours long past stand together in the first hour of their day. */
export async function findHours(
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

/** People's visits by what they have in common, the most frequent first. */
export async function findShares(
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
