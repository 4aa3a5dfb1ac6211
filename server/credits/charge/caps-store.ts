// Caps on the credits that an account may use in a day and in a month of Shanghai, and the usage they are compared with.
//
// The usage is always counted, so that a cap set during the day includes what was used before. It is part of the balance's row:
// the charge has locked that row anyway.
import type { CapPeriod } from '../../../contract/credits.ts'
import { formatDay } from '../../../contract/time.ts'
import type { Tables } from '../../db/schema.ts'

/** The credits that were used on the day of the last charge, and in its month. */
export type CountedUsage = Pick<Tables['credit'], 'usage_day' | 'used_on_day' | 'used_in_month'>

/** A balance that the transaction has locked. */
type CappedBalance = CountedUsage & {
  readonly at: number
  readonly settings: Readonly<Pick<Tables['credit'], 'daily_cap' | 'monthly_cap'>> | undefined
}

/** The cap that a charge would exceed. */
export function exceededCap(balance: CappedBalance, cost: number): CapPeriod | undefined {
  if (cost === 0 || !balance.settings) return undefined
  const { daily_cap: daily, monthly_cap: monthly } = balance.settings
  if (daily === null && monthly === null) return undefined
  startDay(balance)
  if (daily !== null && balance.used_on_day + cost > daily) return 'day'
  if (monthly !== null && balance.used_in_month + cost > monthly) return 'month'
  return undefined
}

/** Counts a charge. */
export function addUsage(balance: CappedBalance, cost: number): void {
  startDay(balance)
  balance.used_on_day += cost
  balance.used_in_month += cost
}

function startDay(balance: CappedBalance): void {
  const day = formatDay(balance.at)
  if (balance.usage_day === day) return
  if (monthOf(balance.usage_day) !== monthOf(day)) balance.used_in_month = 0
  balance.used_on_day = 0
  balance.usage_day = day
}

function monthOf(day: string): string {
  return day.slice(0, 7)
}

/** The parts of refunds that belong to the latest day and month of their charges. */
export interface RefundedUsage {
  readonly day: string
  readonly on_day: number
  readonly in_month: number
}

/**
 * A balance counts the day of its last charge, which is no earlier than that of any refunded charge: only what was charged
 * on the latest day can still be counted.
 */
export function refundedUsage(refunds: readonly { created_at: number; given_back: number }[]): RefundedUsage {
  const days = refunds.map(({ created_at: at, given_back: amount }) => ({ day: formatDay(at), amount }))
  const day = days.reduce((latest, one) => (one.day > latest ? one.day : latest), '')
  const sumOf = (items: typeof days) => items.reduce((sum, { amount }) => sum + amount, 0)
  return {
    day,
    on_day: sumOf(days.filter((one) => one.day === day)),
    in_month: sumOf(days.filter((one) => monthOf(one.day) === monthOf(day))),
  }
}

/** The assignments of an UPDATE that take refunds, listed in `t`, from the usage of their day and month. */
export const reducedUsage = `used_on_day = CASE WHEN credit.usage_day <> t.day THEN credit.used_on_day
      WHEN credit.used_on_day > t.on_day THEN credit.used_on_day - t.on_day ELSE 0 END,
    used_in_month = CASE WHEN SUBSTR(credit.usage_day, 1, 7) <> SUBSTR(t.day, 1, 7) THEN credit.used_in_month
      WHEN credit.used_in_month > t.in_month THEN credit.used_in_month - t.in_month ELSE 0 END`
