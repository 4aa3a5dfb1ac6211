// Used credits by day, from the balances at the start of each day: exact with refunds and charges that no request caused,
// and without reading the charges themselves.
import { LRUCache } from 'lru-cache'
import { type ApiType, apiTypes } from '../../../contract/credits.ts'
import { endOfDay, minuteMs, startOfDay } from '../../../contract/time.ts'
import type { Database } from '../../db/database.ts'
import { findBalancesBefore, findTotalsBefore, ledgerIdAt, sumGrants } from './list-store.ts'

export type CreditsByType = Readonly<Record<ApiType, number>>

export interface LedgerUsage {
  /** The first ledger id at or after a time. */
  firstIdAt(moment: number): Promise<number>
  /** The same for moments that follow each other. */
  firstIdsAt(moments: readonly number[]): Promise<readonly number[]>
  /** Charged minus refunded on each of these days, which follow each other. */
  usedByDay(accountId: number, days: readonly string[]): Promise<CreditsByType[]>
  /** Charged minus refunded by all accounts since a time, given what they were granted since and have now. */
  usedSince(moment: number, granted: CreditsByType, remaining: CreditsByType): Promise<CreditsByType>
}

/** Entries of a time this long ago are all committed. */
const settledMs = minuteMs

export function createLedgerUsage(db: Database): LedgerUsage {
  /** By time: the first entry of a past day never changes. */
  const firstIds = new LRUCache<number, number>({ max: 2_000 })
  /** The sum of all balances at the last moment that was asked for. */
  let totals: { readonly moment: number; readonly sums: CreditsByType } | undefined

  async function firstIdAt(moment: number): Promise<number> {
    const known = firstIds.get(moment)
    if (known !== undefined) return known
    const firstId = await ledgerIdAt(db, moment)
    if (moment < Date.now() - settledMs) firstIds.set(moment, firstId)
    return firstId
  }

  /** Years without an entry take two look-ups: between two moments with the same id, every moment has it. */
  async function firstIdsAt(moments: readonly number[]): Promise<readonly number[]> {
    const ids: number[] = Array.from({ length: moments.length }, () => 0)
    const find = async (index: number) => void (ids[index] = await firstIdAt(moments[index]!))
    async function findBetween(first: number, last: number): Promise<void> {
      if (last - first < 2) return
      if (ids[first] === ids[last]) return void ids.fill(ids[first]!, first, last)
      const middle = Math.floor((first + last) / 2)
      await find(middle)
      await Promise.all([findBetween(first, middle), findBetween(middle, last)])
    }
    const last = moments.length - 1
    if (last < 0) return ids
    await Promise.all([find(0), find(last)])
    await findBetween(0, last)
    return ids
  }

  return {
    firstIdAt,
    firstIdsAt,
    async usedByDay(accountId, days) {
      const first = startOfDay(days[0] ?? '')
      if (first === undefined) return []
      const moments = [first, ...days.map((day) => endOfDay(day) ?? first)]
      const ids = await firstIdsAt(moments)
      const found = await findBalancesBefore(db, accountId, [...new Set(ids)])
      const balances = new Map(found.map((one) => [`${one.id} ${one.api_type}`, one.remaining ?? 0]))
      const ranges = days.map((_day, index) => ({ first: ids[index]!, next: ids[index + 1]! }))
      const withEntries = ranges.filter((range) => range.first < range.next)
      const granted = withEntries.length === 0 ? [] : await sumGrants(db, accountId, withEntries)
      const grants = new Map(granted.map((one) => [`${one.first} ${one.api_type}`, one.amount]))
      return ranges.map(({ first: from, next }) =>
        byType((type) =>
          from === next
            ? 0
            : (balances.get(`${from} ${type}`) ?? 0) -
              (balances.get(`${next} ${type}`) ?? 0) +
              (grants.get(`${from} ${type}`) ?? 0),
        ),
      )
    },
    async usedSince(moment, granted, remaining) {
      if (totals?.moment !== moment) {
        const rows = await findTotalsBefore(db, await firstIdAt(moment))
        const sums = byType((type) => Number(rows.find((row) => row.api_type === type)?.remaining ?? 0))
        totals = { moment, sums }
      }
      const { sums } = totals
      return byType((type) => sums[type] - remaining[type] + granted[type])
    },
  }
}

export function byType(value: (type: ApiType) => number): CreditsByType {
  return Object.fromEntries(apiTypes.map((type) => [type, value(type)])) as CreditsByType
}
