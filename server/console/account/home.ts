// The home page: balances and how long they last, calls per day, frequent errors, first steps.
import { homeRoutes } from '../../../contract/console/home.ts'
import type { BalanceOutlook, DayOfCalls } from '../../../contract/console/responses/home.ts'
import { dayMs, formatDay } from '../../../contract/time.ts'
import { createLedgerUsage, type CreditsByType } from '../../credits/ledger/usage.ts'
import type { CreditBalance } from '../../credits/store.ts'
import type { Services } from '../../services.ts'
import type { Api } from '../routes.ts'
import { explainError } from '../../../contract/codes.ts'
import { rangeOf } from '../fields.ts'
import { type DayCount, findCounts, findFirstSteps } from '../../request-log/store.ts'
import { type EndpointName, endpointNames } from '../../../contract/console/values.ts'

const recentDays = 14
const rateDays = 7

export function homePages(api: Api, { db, credits }: Services): void {
  const usage = createLedgerUsage(db)
  api.account(homeRoutes.home, async ({ account, language }, input) => {
    const range = rangeOf(input, { byDefault: recentDays, max: 366 })
    const today = Date.now()
    const recent = Array.from({ length: recentDays }, (_one, index) =>
      formatDay(today - (recentDays - 1 - index) * dayMs),
    )
    const counts = await findCounts(db, account.id, range.from, range.to)
    const used = await usage.usedByDay(account.id, range.days)
    const recentUse = await usage.usedByDay(account.id, recent)
    const balances = await credits.balances(account.id)
    const steps = await findFirstSteps(db, account.id)
    return {
      from: range.from,
      to: range.to,
      balances: balances.map((balance) => outlookOf(balance, recentUse)),
      days: countDays(range.days, counts).map((day, index) => ({ ...day, credits: used[index]! })),
      errors: commonErrors(counts).map(({ endpoint, code, count }) => {
        const { meaning, advice } = explainError(code)
        return { endpoint, code, count, meaning: meaning[language], advice: advice[language] }
      }),
      checklist: {
        has_key: account.key_hash !== null,
        has_call: steps.called,
        has_success: steps.paid,
        has_use: steps.used,
        has_credits: balances.some(({ remaining }) => remaining > 0),
      },
    }
  })
}

/** `recent` has the used credits of the last days, today last. */
export function outlookOf(balance: CreditBalance, recent: readonly CreditsByType[]): BalanceOutlook {
  const { total, remaining } = balance
  const daily = recent.map((day) => day[balance.api_type])
  const used = sum(daily.slice(-rateDays))
  // An account that began two days ago has an average of two days, not of seven.
  const daysInUse = Math.min(rateDays, daily.length - daily.findIndex((count) => count > 0))
  const daysLeft = used > 0 ? Math.floor(remaining / (used / daysInUse)) : null
  return { ...balance, daily, used_7d: used, days_left: daysLeft, level: levelOf(total, remaining, daysLeft) }
}

function levelOf(total: number, remaining: number, daysLeft: number | null): BalanceOutlook['level'] {
  if (total === 0) return 'none'
  if (remaining === 0) return 'empty'
  if (remaining < total * 0.05 || (daysLeft !== null && daysLeft < 3)) return 'critical'
  return remaining < total * 0.2 ? 'low' : 'ok'
}

/** One for each day. A year of an account has thousands of counts, so each is looked at once. */
export function countDays(
  days: readonly string[],
  counts: readonly DayCount[],
): Omit<DayOfCalls, 'credits'>[] {
  const byDay = Map.groupBy(counts, (one) => one.day)
  return days.map((day) => {
    const own = byDay.get(day) ?? []
    return {
      day,
      calls: callsByEndpoint(own),
      total: sum(own.map((one) => one.calls)),
      succeeded: sum(own.map((one) => one.succeeded)),
    }
  })
}

function callsByEndpoint(counts: readonly DayCount[]): Record<EndpointName, number> {
  return Object.fromEntries(
    endpointNames.map((name) => [
      name,
      sum(counts.filter((one) => one.endpoint === name).map((one) => one.calls)),
    ]),
  ) as Record<EndpointName, number>
}

export interface CountedError {
  readonly endpoint: EndpointName
  readonly code: number
  readonly count: number
}

export function commonErrors(counts: readonly DayCount[]): CountedError[] {
  const sums = new Map<string, CountedError>()
  for (const one of counts) {
    const failed = one.calls - one.succeeded
    if (failed === 0) continue
    const key = `${one.endpoint} ${one.code}`
    const count = (sums.get(key)?.count ?? 0) + failed
    sums.set(key, { endpoint: one.endpoint as EndpointName, code: one.code, count })
  }
  return [...sums.values()].sort((a, b) => b.count - a.count).slice(0, 8)
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
