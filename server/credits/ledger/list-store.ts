// Reads the ledger for its account holder: entries newest first with filters, and balances at the end of a day.
import { type ApiType, apiTypes } from '../../../contract/credits.ts'
import type { LedgerKind } from '../../../contract/console/values.ts'
import type { Queries, Value } from '../../db/database.ts'
import { idList } from '../../db/dialect.ts'
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
  const ids = await idRange(queries, ledgerTable, search)
  const values: Value[] = [
    Math.min(search.before ?? ids.end, ids.end),
    ids.first,
    search.start ?? 0,
    search.end ?? Number.MAX_SAFE_INTEGER,
  ]
  const lists = await Promise.all(
    // The index on kinds other than charges is used only when the kind is part of the statement.
    search.kind !== undefined && search.kind !== 'charge'
      ? [
          queries.all<LedgerRow>(
            `${select} WHERE l.account_id = ? AND l.kind = '${search.kind}' AND l.kind <> 'charge' AND ${within}
             ${search.apiType === undefined ? '' : 'AND l.api_type = ?'} ORDER BY l.id DESC LIMIT ${limit}`,
            [search.accountId, ...values, ...(search.apiType === undefined ? [] : [search.apiType])],
          ),
        ]
      : (search.apiType === undefined ? apiTypes : [search.apiType]).map((apiType) =>
          queries.all<LedgerRow>(
            `${select} WHERE l.account_id = ? AND l.api_type = ? AND ${within}
             ${search.kind === undefined ? '' : `AND l.kind = 'charge'`} ORDER BY l.id DESC LIMIT ${limit}`,
            [search.accountId, apiType, ...values],
          ),
        ),
  )
  return lists
    .flat()
    .sort((a, b) => b.id - a.id)
    .slice(0, limit)
}

/** A compacted entry replaces those of many operations, so it shows none. */
const select = `SELECT l.id, l.at, l.api_type, l.kind, l.amount, l.balance_after, l.note, l.operation_id,
    c.hint AS redeem_hint, o.action, o.state, o.cost, o.given_back, o.request_id
  FROM ledger l LEFT JOIN redeem_code c ON c.id = l.redeem_code_id
    LEFT JOIN operation o ON o.id = l.operation_id AND o.action <> '${compactedAction}'`

const within = 'l.id < ? AND l.id >= ? AND l.at >= ? AND l.at < ?'

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

/** Grants and adjustments of an account between two ledger ids. */
export function findGrants(
  queries: Queries,
  accountId: number,
  from: number,
  to: number,
): Promise<{ id: number; api_type: ApiType; amount: number }[]> {
  return queries.all(
    `SELECT id, api_type, amount FROM ledger
     WHERE account_id = ? AND kind IN ('grant', 'adjust') AND kind <> 'charge' AND id >= ? AND id < ?`,
    [accountId, from, to],
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
