// Click statistics of a link or a tag for `stats`.
import { analyticsLimits, type StatPart } from '../../../contract/link-analytics.ts'
import { dayMs, formatDay, formatTime, hourMs } from '../../../contract/time.ts'
import type { Queries } from '../../db/database.ts'
import { parameterError } from '../../http/parameters.ts'
import { otherReferrers } from '../clicks/counts.ts'
import { dayOfHour, hourOf } from '../clicks/hours.ts'
import {
  type StatRange,
  hasMoreLinks,
  listTagged,
  sumColumn,
  sumHours,
  sumPart,
  type ValueCount,
} from './stat-store.ts'
import { createVisitorCount } from './visitors.ts'

export type StatLinks = { readonly id: number } | { readonly accountId: number; readonly tag: string }

export interface StatQuery {
  readonly links: StatLinks
  /** The first millisecond of the first day, and the one after the last day. */
  readonly start: number
  readonly end: number
  readonly by: StatPart
}

export interface LinkStats {
  readonly start_date: string
  readonly end_date: string
  readonly clicks: number
  readonly bot_clicks: number
  readonly preview_clicks: number
  readonly visitors: number
  readonly items: readonly ValueCount[]
}

/** Links that one query sums. */
const linksPerSlice = 1_000

/** More values are summed as `otherReferrers`; only referrers can have that many. */
const maxItems = 1_000

export async function readStats(queries: Queries, { links, start, end, by }: StatQuery): Promise<LinkStats> {
  const range = dayRangeOf(start, end)
  await requireFewLinks(queries, links)
  const totals = { person: 0, bot: 0, preview: 0 }
  const byTime = new Map<number, number>()
  const byValue = new Map<string, number>()
  const visitors = createVisitorCount(queries, range, 'tag' in links)
  for await (const ids of sliceLinks(queries, links)) {
    for (const { hour, kind, clicks } of await sumHours(queries, ids, range)) {
      totals[kind] += clicks
      if (kind !== 'person') continue
      const unit = by === 'hour' ? hour : dayOfHour(hour)
      byTime.set(unit, (byTime.get(unit) ?? 0) + clicks)
    }
    await visitors.add(ids)
    for (const { value, clicks } of await sumValues(queries, ids, range, by))
      byValue.set(value, (byValue.get(value) ?? 0) + clicks)
  }
  return {
    start_date: formatDay(start),
    end_date: formatDay(end - dayMs),
    clicks: totals.person,
    bot_clicks: totals.bot,
    preview_clicks: totals.preview,
    visitors: visitors.total(),
    items: by === 'day' || by === 'hour' ? timeItems(by, range, byTime) : valueItems(byValue, totals.person),
  }
}

export function dayRangeOf(start: number, end: number): StatRange {
  const fromHour = hourOf(start)
  const toHour = hourOf(end)
  return { fromHour, toHour, fromDay: dayOfHour(fromHour), toDay: dayOfHour(toHour) }
}

/** Bounds the work of one call. */
export async function requireFewLinks(queries: Queries, links: StatLinks): Promise<void> {
  if ('id' in links || !(await hasMoreLinks(queries, links, analyticsLimits.links))) return
  const text = {
    zh: `下的链接超过 ${analyticsLimits.links} 个，无法汇总`,
    en: `has more than ${analyticsLimits.links} links, which are not summed`,
  }
  throw parameterError([], [{ name: 'tag', text }])
}

export async function* sliceLinks(queries: Queries, links: StatLinks): AsyncGenerator<readonly number[]> {
  if ('id' in links) {
    yield [links.id]
    return
  }
  let after = 0
  for (;;) {
    const ids = await listTagged(queries, links.accountId, links.tag, after, linksPerSlice)
    if (ids.length > 0) yield ids
    if (ids.length < linksPerSlice) return
    after = ids.at(-1)!
  }
}

/** The values as the interface names them. */
const publicValues: Readonly<Record<string, string>> = { phone: 'mobile', other: '' }

export async function sumValues(
  queries: Queries,
  ids: readonly number[],
  range: StatRange,
  by: StatPart,
): Promise<ValueCount[]> {
  switch (by) {
    case 'day':
    case 'hour':
      return []
    case 'referrer':
      return sumColumn(queries, ids, range, by)
    case 'device':
    case 'browser': {
      const rows = await sumColumn(queries, ids, range, by)
      return rows.map(({ value, clicks }) => ({ value: publicValues[value] ?? value, clicks }))
    }
    default:
      return sumPart(queries, ids, range, by)
  }
}

/** Every day or hour of the range, in the order of time. */
function timeItems(by: 'day' | 'hour', range: StatRange, counts: ReadonlyMap<number, number>): ValueCount[] {
  if (by === 'hour') {
    return Array.from({ length: range.toHour - range.fromHour }, (_one, index) => {
      const hour = range.fromHour + index
      return { value: formatTime(hour * hourMs).slice(0, 16), clicks: counts.get(hour) ?? 0 }
    })
  }
  return Array.from({ length: range.toDay - range.fromDay }, (_one, index) => ({
    value: formatDay((range.fromHour + 24 * index) * hourMs),
    clicks: counts.get(range.fromDay + index) ?? 0,
  }))
}

/** Largest first. Clicks without a value are those of unknown visitors. */
export function valueItems(counts: ReadonlyMap<string, number>, total: number): ValueCount[] {
  const known = [...counts.values()].reduce((sum, clicks) => sum + clicks, 0)
  const all = new Map(counts)
  if (total > known) all.set('', (all.get('') ?? 0) + total - known)
  const items = [...all]
    .map(([value, clicks]) => ({ value, clicks }))
    .sort((a, b) => b.clicks - a.clicks || (a.value < b.value ? -1 : 1))
  if (items.length <= maxItems) return items
  const rest = items.slice(maxItems - 1).reduce((sum, { clicks }) => sum + clicks, 0)
  return [...items.slice(0, maxItems - 1), { value: otherReferrers, clicks: rest }]
}
