// Counts of calls by account, day, endpoint and code, before they are stored.
import { type DayCount, wholePlatform } from './store.ts'

export function createDayCount(accountId: number, day: string, endpoint: string, code: number): DayCount {
  return {
    account_id: accountId,
    day,
    endpoint,
    code,
    calls: 0,
    succeeded: 0,
    paid: 0,
    credits: 0,
    console_calls: 0,
    console_paid: 0,
  }
}

/**
 * Adds the platform's sums. All processes write the rows in the same order, so that they cannot deadlock.
 */
export function withPlatform(own: readonly DayCount[]): DayCount[] {
  const sums = new Map<string, DayCount>()
  for (const one of own) {
    mergeCount(sums, `${one.day} ${one.endpoint} ${one.code}`, { ...one, account_id: wholePlatform })
  }
  const keyOf = (one: DayCount) => `${one.account_id} ${one.day} ${one.endpoint} ${one.code}`
  return [...own, ...sums.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

export function mergeCount(counts: Map<string, DayCount>, key: string, one: DayCount): void {
  const there = counts.get(key)
  if (!there) {
    counts.set(key, one)
    return
  }
  there.calls += one.calls
  there.succeeded += one.succeeded
  there.paid += one.paid
  there.credits += one.credits
  there.console_calls += one.console_calls
  there.console_paid += one.console_paid
}
