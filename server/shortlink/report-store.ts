// What the owner of links looks at: lists of links, and clicks by day, hour, referrer, device and browser.
import type { RedirectType } from '../../contract/shortlink.ts'
import type { Queries, Value } from '../db/database.ts'
import type { VisitKind } from './agents.ts'
import { firstHourOfDay, hoursPerDay, shanghaiOffsetHours } from './hours.ts'
import { type Link, linkColumns } from './store.ts'

export interface LinkFilter {
  readonly accountId: number
  /** Part of the title, the target or the code, in any case. */
  readonly search?: string | undefined
  readonly redirectType?: RedirectType | undefined
  readonly sort?: 'newest' | 'oldest' | 'title' | 'clicks' | undefined
  readonly limit: number
  readonly offset?: number | undefined
}

export interface ListedLink extends Link {
  /** Of people. */
  readonly clicks: number
}

const clicksOfLink = `(SELECT COALESCE(SUM(k.clicks), 0) FROM link_click k
  WHERE k.link_id = l.id AND k.kind = 'person')`

const orders = {
  newest: 'l.id DESC',
  oldest: 'l.id',
  title: 'l.title, l.id',
  clicks: 'clicks DESC, l.id DESC',
} as const

/** One page, and how many there are in all. */
export async function listLinks(
  queries: Queries,
  filter: LinkFilter,
): Promise<{ links: ListedLink[]; total: number }> {
  const { where, values } = whereOf(filter)
  const links = await queries.all<ListedLink>(
    `SELECT ${linkColumns}, ${clicksOfLink} AS clicks FROM link l WHERE ${where}
     ORDER BY ${orders[filter.sort ?? 'newest']} LIMIT ? OFFSET ?`,
    [...values, filter.limit, filter.offset ?? 0],
  )
  const count = await queries.one<{ count: number }>(
    `SELECT COUNT(*) AS count FROM link l WHERE ${where}`,
    values,
  )
  return { links: links.map((link) => ({ ...link, clicks: Number(link.clicks) })), total: count?.count ?? 0 }
}

/** For exports: page after page in the order they were made, each starting where the last one ended. */
export function listLinksAfter(
  queries: Queries,
  filter: Omit<LinkFilter, 'sort' | 'offset'>,
  afterId: number,
): Promise<ListedLink[]> {
  const { where, values } = whereOf(filter)
  return queries.all<ListedLink>(
    `SELECT ${linkColumns}, ${clicksOfLink} AS clicks FROM link l WHERE ${where} AND l.id > ? ORDER BY l.id LIMIT ?`,
    [...values, afterId, filter.limit],
  )
}

/** The texts that come out of this are few: one for each combination of what may be asked. */
function whereOf(filter: Pick<LinkFilter, 'accountId' | 'search' | 'redirectType'>): {
  where: string
  values: Value[]
} {
  const parts = ['l.account_id = ?']
  const values: Value[] = [filter.accountId]
  if (filter.redirectType !== undefined) {
    parts.push('l.redirect_type = ?')
    values.push(filter.redirectType)
  }
  if (filter.search !== undefined && filter.search !== '') {
    parts.push(
      `(LOWER(l.title) LIKE ? ESCAPE '\\' OR LOWER(l.target_url) LIKE ? ESCAPE '\\' OR LOWER(l.code) LIKE ? ESCAPE '\\')`,
    )
    const pattern = `%${filter.search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
    values.push(pattern, pattern, pattern)
  }
  return { where: parts.join(' AND '), values }
}

/** Whole days of Shanghai, both included, as days since 1970. */
export interface DayRange {
  readonly from: number
  readonly until: number
}

export interface DayOfClicks {
  readonly day: number
  readonly person: number
  readonly bot: number
  readonly preview: number
  /** Different people. */
  readonly visitors: number
}

const dayOf = `(hour + ${shanghaiOffsetHours}) / ${hoursPerDay}`

/** Every day of the range, also those without a click. */
export async function findClickDays(
  queries: Queries,
  linkId: number,
  range: DayRange,
): Promise<DayOfClicks[]> {
  const rows = await queries.all<{ day: number; kind: VisitKind; clicks: number }>(
    `SELECT ${dayOf} AS day, kind, SUM(clicks) AS clicks FROM link_click
     WHERE link_id = ? AND hour >= ? AND hour < ? GROUP BY ${dayOf}, kind`,
    [linkId, firstHourOfDay(range.from), firstHourOfDay(range.until + 1)],
  )
  const visitors = await queries.all<{ day: number; visitors: number }>(
    `SELECT day, visitors FROM link_visitor_day WHERE link_id = ? AND day >= ? AND day <= ?
     UNION ALL SELECT day, COUNT(*) AS visitors FROM link_visitor WHERE link_id = ? AND day >= ? AND day <= ? GROUP BY day`,
    [linkId, range.from, range.until, linkId, range.from, range.until],
  )
  const days = new Map<number, { person: number; bot: number; preview: number; visitors: number }>()
  for (let day = range.from; day <= range.until; day += 1)
    days.set(day, { person: 0, bot: 0, preview: 0, visitors: 0 })
  for (const row of rows) days.get(row.day)![row.kind] += Number(row.clicks)
  for (const row of visitors) days.get(row.day)!.visitors += Number(row.visitors)
  return [...days].map(([day, counted]) => ({ day, ...counted }))
}

export interface HourOfClicks {
  readonly hour: number
  readonly clicks: number
}

/** People's clicks by the hour; for days that were rolled up all stand in the first. */
export async function findClickHours(queries: Queries, linkId: number, day: number): Promise<HourOfClicks[]> {
  const rows = await queries.all<HourOfClicks>(
    `SELECT hour, SUM(clicks) AS clicks FROM link_click
     WHERE link_id = ? AND hour >= ? AND hour < ? AND kind = 'person' GROUP BY hour ORDER BY hour`,
    [linkId, firstHourOfDay(day), firstHourOfDay(day + 1)],
  )
  return rows.map(({ hour, clicks }) => ({ hour, clicks: Number(clicks) }))
}

export interface ClickShare {
  readonly name: string
  readonly clicks: number
}

/** Where people come from, or with what: the largest first. */
export async function findClickShares(
  queries: Queries,
  linkId: number,
  range: DayRange,
  by: 'referrer' | 'device' | 'browser',
): Promise<ClickShare[]> {
  const rows = await queries.all<ClickShare>(
    `SELECT ${by} AS name, SUM(clicks) AS clicks FROM link_click
     WHERE link_id = ? AND hour >= ? AND hour < ? AND kind = 'person' GROUP BY ${by}
     ORDER BY SUM(clicks) DESC, ${by} LIMIT 50`,
    [linkId, firstHourOfDay(range.from), firstHourOfDay(range.until + 1)],
  )
  return rows.map(({ name, clicks }) => ({ name, clicks: Number(clicks) }))
}
