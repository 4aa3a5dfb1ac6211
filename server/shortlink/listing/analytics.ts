// All statistics of a link or a tag for one page: totals with those of the period before, days, and every breakdown.
import { analyticsLimits, type AnalyticsPart, analyticsParts } from '../../../contract/link-analytics.ts'
import { scanReferrer } from '../../../contract/link-qr.ts'
import { dayMs, formatDay } from '../../../contract/time.ts'
import type { Queries } from '../../db/database.ts'
import { otherReferrers } from '../clicks/counts.ts'
import { dayOfHour } from '../clicks/hours.ts'
import { sumHours, type ValueCount } from './stat-store.ts'
import { dayRangeOf, requireFewLinks, sliceLinks, type StatLinks, sumValues, valueItems } from './stats.ts'
import { createVisitorCount } from './visitors.ts'

export interface PeriodTotals {
  clicks: number
  bots: number
  previews: number
  visitors: number
  scans: number
}

export interface Analytics {
  readonly from: string
  readonly to: string
  readonly totals: Readonly<PeriodTotals>
  /** Of as many days before. */
  readonly previous: Readonly<PeriodTotals> & { readonly from: string; readonly to: string }
  readonly days: readonly {
    readonly day: string
    readonly person: number
    readonly bot: number
    readonly preview: number
    /** Visits by people on the same day of the period before. */
    readonly previous: number
  }[]
  readonly parts: Readonly<Record<AnalyticsPart, readonly ValueCount[]>>
}

export async function readAnalytics(
  queries: Queries,
  links: StatLinks,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<Analytics> {
  await requireFewLinks(queries, links)
  const length = end - start
  const range = dayRangeOf(start, end)
  const before = dayRangeOf(start - length, start)
  const [totals, previous] = [emptyTotals(), emptyTotals()]
  const days = Array.from({ length: Math.round(length / dayMs) }, (_one, index) => ({
    day: formatDay(start + index * dayMs),
    person: 0,
    bot: 0,
    preview: 0,
    previous: 0,
  }))
  const values = new Map(analyticsParts.map((part) => [part, new Map<string, number>()]))
  const visitors = createVisitorCount(queries, range, 'tag' in links)
  const visitorsBefore = createVisitorCount(queries, before, 'tag' in links)
  for await (const ids of sliceLinks(queries, links)) {
    for (const { hour, kind, clicks } of await sumHours(queries, ids, range)) {
      totals[names[kind]] += clicks
      const day = days[dayOfHour(hour) - range.fromDay]
      if (day) day[kind] += clicks
    }
    for (const { hour, kind, clicks } of await sumHours(queries, ids, before)) {
      previous[names[kind]] += clicks
      const day = kind === 'person' ? days[dayOfHour(hour) - before.fromDay] : undefined
      if (day) day.previous += clicks
    }
    await visitors.add(ids)
    await visitorsBefore.add(ids)
    for (const [part, counts] of values) {
      for (const { value, clicks } of await sumValues(queries, ids, range, part))
        counts.set(value, (counts.get(value) ?? 0) + clicks)
    }
    for (const { value, clicks } of await sumValues(queries, ids, before, 'referrer'))
      if (value === scanReferrer) previous.scans += clicks
  }
  totals.visitors = visitors.total()
  previous.visitors = visitorsBefore.total()
  totals.scans = values.get('referrer')?.get(scanReferrer) ?? 0
  return {
    from: formatDay(start),
    to: formatDay(end - dayMs),
    totals,
    previous: { ...previous, from: formatDay(start - length), to: formatDay(start - dayMs) },
    days,
    parts: Object.fromEntries(
      [...values].map(([part, counts]) => [part, firstValues(valueItems(counts, totals.clicks))]),
    ) as Record<AnalyticsPart, readonly ValueCount[]>,
  }
}

const names = { person: 'clicks', bot: 'bots', preview: 'previews' } as const

function emptyTotals(): PeriodTotals {
  return { clicks: 0, bots: 0, previews: 0, visitors: 0, scans: 0 }
}

/** The rest is one value, so that the sum stays right. */
function firstValues(items: readonly ValueCount[]): readonly ValueCount[] {
  const max = analyticsLimits.values
  if (items.length <= max) return items
  const listed = items.slice(0, max).filter(({ value }) => value !== otherReferrers)
  const known = listed.reduce((sum, { clicks }) => sum + clicks, 0)
  const all = items.reduce((sum, { clicks }) => sum + clicks, 0)
  return [...listed, { value: otherReferrers, clicks: all - known }]
}
