// Resolves the choices of the date range filter to days in Asia/Shanghai, independent of the browser's time zone.
import type { DayRange } from '../../contract/console/fields.ts'
import { dayMs, formatDay, startOfDay } from '../../contract/time.ts'

export const rangeNames = ['today', 'yesterday', '7d', '30d', 'month', 'custom', 'all'] as const

export type RangeName = (typeof rangeNames)[number]

function isRangeName(name: string): name is RangeName {
  return (rangeNames as readonly string[]).includes(name)
}

export function resolveDayRange(name: string, from: string, to: string, now: number): DayRange {
  const today = formatDay(now)
  switch (isRangeName(name) ? name : 'all') {
    case 'today':
      return { from: today, to: today }
    case 'yesterday': {
      const day = formatDay(now - dayMs)
      return { from: day, to: day }
    }
    case '7d':
      return { from: formatDay(now - 6 * dayMs), to: today }
    case '30d':
      return { from: formatDay(now - 29 * dayMs), to: today }
    case 'month':
      return { from: `${today.slice(0, 8)}01`, to: today }
    case 'custom': {
      const valid = (day: string) => startOfDay(day) !== undefined
      // Swaps the dates if they are in the wrong order.
      const [first, last] = valid(from) && valid(to) && from > to ? [to, from] : [from, to]
      return { ...(valid(first) ? { from: first } : {}), ...(valid(last) ? { to: last } : {}) }
    }
    case 'all':
      return {}
  }
}
