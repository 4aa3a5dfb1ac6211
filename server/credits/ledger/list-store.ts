// Reads the ledger for its account holder: entries newest first with filters, and balances at the end of a day.
import { sql } from 'kysely'
import { type ApiType, apiTypes } from '../../../contract/credits.ts'
import type { LedgerKind } from '../../../contract/console/values.ts'
import type { Queries } from '../../db/database.ts'
import { idList, valueTable } from '../../db/dialect.ts'
import { firstIdAtOrAfter, idRange } from '../../db/time-ordered.ts'
import type { Tables } from '../../db/schema.ts'
import { compactedAction } from './compaction-plan.ts'

export type LedgerRow = Readonly<Omit<Tables['ledger'], 'account_id' | 'redeem_code_id'>> & {
  readonly redeem_hint: string | null
  /** Of the operation: */
  readonly action: string | null
  readonly state: Tables['operation']['state'] | null
  readonly cost: number | null
  readonly given_back: number | null
  readonly request_id: string | null
}

export interface LedgerSearch {
  readonly accountId: number
  readonly apiType?: ApiType | undefined
  readonly kind?: LedgerKind | undefined
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly before?: number | undefined
}

export const ledgerTable = { table: 'ledger', time: 'at' } as const

/**
 * Each API type has an index range, so a list of all types is read as four lists and merged. Days are converted to ids
 * first, which finds an old day without reading everything after it.
 */
export async function listLedger(
  queries: Queries,
  search: LedgerSearch,
  limit: number,
): Promise<LedgerRow[]> {
  const { accountId, apiType, kind, start = 0, end = Number.MAX_SAFE_INTEGER } = search
  const ids = await idRange(queries, ledgerTable, search)
  const entries = queries.kysely
    .selectFrom('ledger as l')
    .leftJoin('redeem_code as c', 'c.id', 'l.redeem_code_id')
    // A compacted entry replaces those of many operations, so it shows none.
    .leftJoin('operation as o', (join) =>
      join.onRef('o.id', '=', 'l.operation_id').on('o.action', '<>', compactedAction),
    )
    .select([
      'l.id',
      'l.at',
      'l.api_type',
      'l.kind',
      'l.amount',
      'l.balance_after',
      'l.note',
      'l.operation_id',
    ])
    .select(['c.hint as redeem_hint', 'o.action', 'o.state', 'o.cost', 'o.given_back', 'o.request_id'])
    .where('l.account_id', '=', accountId)
    .where('l.id', '<', Math.min(search.before ?? ids.end, ids.end))
    .where('l.id', '>=', ids.first)
    .where('l.at', '>=', start)
    .where('l.at', '<', end)
    .orderBy('l.id', 'desc')
    .limit(limit)
  if (kind !== undefined && kind !== 'charge') {
    // Literals, because the index on kinds other than charges needs them.
    const others = entries.where('l.kind', '=', sql.lit(kind)).where('l.kind', '<>', sql.lit('charge'))
    return (apiType === undefined ? others : others.where('l.api_type', '=', apiType)).execute()
  }
  const lists = await Promise.all(
    (apiType === undefined ? apiTypes : [apiType]).map((type) => {
      const ofType = entries.where('l.api_type', '=', type)
      return (kind === undefined ? ofType : ofType.where('l.kind', '=', kind)).execute()
    }),
  )
  return lists
    .flat()
    .sort((one, other) => other.id - one.id)
    .slice(0, limit)
}

/** The first entry at or after a time. */
export function ledgerIdAt(queries: Queries, moment: number): Promise<number> {
  return firstIdAtOrAfter(queries, ledgerTable, moment)
}

interface BalanceBefore {
  readonly id: number
  readonly api_type: ApiType
  readonly remaining: number | null
}

/** The balance of each API type before each of these ledger ids. */
export function findBalancesBefore(
  queries: Queries,
  accountId: number,
  ids: readonly number[],
): Promise<BalanceBefore[]> {
  const list = idList(queries, ids)
  return queries.all<BalanceBefore>(
    `SELECT b.id, c.api_type, (SELECT l.balance_after FROM ledger l WHERE l.account_id = c.account_id
         AND l.api_type = c.api_type AND l.id < b.id ORDER BY l.id DESC LIMIT 1) AS remaining
     FROM credit c CROSS JOIN ${list.sql} AS b WHERE c.account_id = ?`,
    [list.value, accountId],
  )
}

/** The sum of all balances before a ledger id, by API type. Looks up every balance: callers store the result. */
export function findTotalsBefore(
  queries: Queries,
  id: number,
): Promise<{ api_type: ApiType; remaining: number | null }[]> {
  return queries.all(
    `SELECT api_type, SUM(before) AS remaining FROM (SELECT c.api_type, (SELECT l.balance_after FROM ledger l
         WHERE l.account_id = c.account_id AND l.api_type = c.api_type AND l.id < ? ORDER BY l.id DESC LIMIT 1) AS before
       FROM credit c) balances GROUP BY api_type`,
    [id],
  )
}

/** The sum of all balances now, by API type. */
export function findTotals(queries: Queries): Promise<{ api_type: ApiType; remaining: number | null }[]> {
  return queries.all('SELECT api_type, SUM(total - used) AS remaining FROM credit GROUP BY api_type')
}

/** Ledger ids from `first` up to `next`, without it. */
export interface LedgerRange {
  readonly first: number
  readonly next: number
}

/** What an account was granted, adjustments included, in each of these ranges, by API type. */
export function sumGrants(
  queries: Queries,
  accountId: number,
  ranges: readonly LedgerRange[],
): Promise<{ first: number; api_type: ApiType; amount: number }[]> {
  const list = valueTable(queries, { first: 'bigint', next: 'bigint' }, ranges)
  return queries.all(
    `SELECT r.first, l.api_type, CAST(SUM(l.amount) AS bigint) AS amount FROM ${list.sql} AS r CROSS JOIN ledger l
     WHERE l.account_id = ? AND l.kind IN ('grant', 'adjust') AND l.kind <> 'charge' AND l.id >= r.first AND l.id < r.next
     GROUP BY r.first, l.api_type`,
    [...list.values, accountId],
  )
}

/** Credits granted, adjustments included, since an id, by API type, for all accounts. */
export function findSold(queries: Queries, fromId: number): Promise<{ api_type: ApiType; sold: number }[]> {
  return queries.all(
    `SELECT api_type, SUM(amount) AS sold FROM ledger
     WHERE kind IN ('grant', 'adjust') AND kind <> 'charge' AND id >= ? GROUP BY api_type`,
    [fromId],
  )
}

export interface HeldCounts {
  readonly open: number
  readonly overdue: number
  readonly oldest_at: number | null
}

export async function countHeldByLease(queries: Queries): Promise<HeldCounts> {
  const row = await queries.one<{ open: number; overdue: number | null; oldest_at: number | null }>(
    `SELECT COUNT(*) AS open, SUM(CASE WHEN lease_until < ${queries.now} THEN 1 ELSE 0 END) AS overdue,
       MIN(created_at) AS oldest_at FROM operation WHERE state = 'held'`,
  )
  return { open: row?.open ?? 0, overdue: row?.overdue ?? 0, oldest_at: row?.oldest_at ?? null }
}
