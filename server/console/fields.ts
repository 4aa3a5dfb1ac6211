// Ranges of days and pages in the input of console routes.
import { type DayRange, dayProblem, type PageQuery } from '../../contract/console/fields.ts'
import type { Slice } from '../../contract/console/route.ts'
import { dayMs, endOfDay, formatDay, startOfDay } from '../../contract/time.ts'
import { invalidFields } from './problem.ts'

export interface TimeRange {
  readonly from: string
  readonly to: string
  /** The first millisecond of the range, and the first one after it. */
  readonly start: number
  readonly end: number
  readonly days: readonly string[]
}

/** The requested days, or the last `byDefault` ones up to today. */
export function rangeOf(
  { from, to }: DayRange,
  limits: { byDefault: number; max: number },
  now: number = Date.now(),
): TimeRange {
  const last = to ?? formatDay(now)
  const end = endOfDay(last)
  if (end === undefined) throw invalidFields({ to: dayProblem })
  const first = from ?? formatDay(end - limits.byDefault * dayMs)
  const start = startOfDay(first)
  if (start === undefined) throw invalidFields({ from: dayProblem })
  if (start >= end) {
    throw invalidFields({ from: { zh: '开始日期晚于结束日期', en: 'The start date is after the end date' } })
  }
  const count = Math.round((end - start) / dayMs)
  if (count > limits.max) {
    throw invalidFields({ from: { zh: `最多 ${limits.max} 天`, en: `At most ${limits.max} days` } })
  }
  const days = Array.from({ length: count }, (_one, index) => formatDay(start + index * dayMs))
  return { from: first, to: last, start, end, days }
}

/** The range as a filter: undefined where the input has no day. */
export function filterRange(given: DayRange): {
  start: number | undefined
  end: number | undefined
} {
  const start = given.from === undefined ? undefined : startOfDay(given.from)
  const end = given.to === undefined ? undefined : endOfDay(given.to)
  if (given.from !== undefined && start === undefined) throw invalidFields({ from: dayProblem })
  if (given.to !== undefined && end === undefined) throw invalidFields({ to: dayProblem })
  return { start, end }
}

/** The days of an export in its file name: one day for everything up to today. */
export function fileDays({ from, to }: DayRange): string {
  const last = to ?? formatDay(Date.now())
  return from === undefined ? last : `${from}-${last}`
}

/** Which rows a sorted list reads, and what `toPage` repeats in the response. */
export interface PageRows {
  readonly limit: number
  readonly offset: number
}

export function pageRows({ page = 1, size = 20 }: PageQuery): PageRows {
  return { limit: size, offset: (page - 1) * size }
}

export function toPage<Item>(
  { limit, offset }: PageRows,
  items: readonly Item[],
  total: number,
): { items: readonly Item[]; total: number; page: number; size: number } {
  return { items, total, page: offset / limit + 1, size: limit }
}

/** Reads one row more than the slice has, to know whether there are more. */
export async function readSlice<Row, Item extends { readonly id: number }>(
  { size = 50 }: { readonly size?: number },
  read: (limit: number) => Promise<readonly Row[]>,
  toItem: (row: Row) => Item,
): Promise<Slice<Item>> {
  const rows = await read(size + 1)
  const items = rows.slice(0, size).map(toItem)
  return { items, next: rows.length > size ? items[size - 1]!.id : null }
}
