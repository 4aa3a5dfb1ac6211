// The ledger as its owner reads it: newest first, filtered, and balances as they stood at the end of a day.
import { type ApiType, apiTypes } from '../../../contract/credits.ts'
import type { LedgerKind } from '../../../contract/console/credits.ts'
import type { Queries, Value } from '../../db/database.ts'
import { carriedAction } from './compaction-plan.ts'
import { firstIdFrom } from '../../db/id-at-time.ts'

export interface LedgerRow {
  readonly id: number
  readonly at: number
  readonly api_type: ApiType
  readonly kind: LedgerKind
  readonly amount: number
  readonly balance_after: number
  readonly note: string | null
  readonly operation_id: number | null
  readonly action: string | null
  readonly state: 'held' | 'settled' | 'refunded' | null
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

/** Ids follow time but for what runs in the same moments. */
const idSlack = 2_000

/**
 * The chain of each type is an index of its own, so a list of all types is read as four and put together. Days are
 * turned into ids first: that finds a day long past without reading all that came after it.
 */
export async function listLedger(
  queries: Queries,
  search: LedgerSearch,
  limit: number,
): Promise<LedgerRow[]> {
  const first = search.start === undefined ? 0 : (await ledgerIdAt(queries, search.start)) - idSlack
  const end = search.end === undefined ? undefined : (await ledgerIdAt(queries, search.end)) + idSlack
  const before = Math.min(search.before ?? Number.MAX_SAFE_INTEGER, end ?? Number.MAX_SAFE_INTEGER)
  const values: Value[] = [
    before,
    Math.max(0, first),
    search.start ?? 0,
    search.end ?? Number.MAX_SAFE_INTEGER,
  ]
  const lists = await Promise.all(
    // Kinds other than charges have an index across the types, which is used when they are written out.
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

/** An entry that was carried over stands for many operations, so it shows none. */
const select = `SELECT l.id, l.at, l.api_type, l.kind, l.amount, l.balance_after, l.note, l.operation_id,
    o.action, o.state, o.cost, o.given_back, o.request_id
  FROM ledger l LEFT JOIN operation o ON o.id = l.operation_id AND o.action <> '${carriedAction}'`

const within = 'l.id < ? AND l.id > ? AND l.at >= ? AND l.at < ?'

/** The first entry from a moment on. */
export function ledgerIdAt(queries: Queries, moment: number): Promise<number> {
  return firstIdFrom(queries, { table: 'ledger', time: 'at' }, moment)
}

interface BalanceAt {
  readonly border: number
  readonly api_type: ApiType
  readonly remaining: number | null
}

/** What was left of each type before each of these ids. */
export function findBalancesAt(
  queries: Queries,
  accountId: number,
  borders: readonly number[],
): Promise<BalanceAt[]> {
  const list =
    queries.engine === 'sqlite'
      ? 'SELECT value AS border FROM json_each(?)'
      : 'SELECT unnest(CAST(? AS bigint[])) AS border'
  return queries.all<BalanceAt>(
    `SELECT b.border, c.api_type, (SELECT l.balance_after FROM ledger l WHERE l.account_id = c.account_id
         AND l.api_type = c.api_type AND l.id < b.border ORDER BY l.id DESC LIMIT 1) AS remaining
     FROM credit c CROSS JOIN (${list}) b WHERE c.account_id = ?`,
    [queries.engine === 'sqlite' ? JSON.stringify(borders) : borders, accountId],
  )
}

/** Credits given out (corrections included) since an id, by type; all accounts together. */
export function findSold(queries: Queries, fromId: number): Promise<{ api_type: ApiType; sold: number }[]> {
  return queries.all(
    `SELECT api_type, SUM(amount) AS sold FROM ledger
     WHERE kind IN ('grant', 'adjust') AND kind <> 'charge' AND id >= ? GROUP BY api_type`,
    [fromId],
  )
}

export interface OpenOperations {
  readonly open: number
  readonly overdue: number
  readonly oldest_at: number | null
}

export async function findOpenOperations(queries: Queries): Promise<OpenOperations> {
  const row = await queries.one<{ open: number; overdue: number | null; oldest_at: number | null }>(
    `SELECT COUNT(*) AS open, SUM(CASE WHEN lease_until < ${queries.now} THEN 1 ELSE 0 END) AS overdue,
       MIN(created_at) AS oldest_at FROM operation WHERE state = 'held'`,
  )
  return { open: row?.open ?? 0, overdue: row?.overdue ?? 0, oldest_at: row?.oldest_at ?? null }
}
