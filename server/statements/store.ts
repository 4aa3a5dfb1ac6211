// Frozen statements, and the sums of the ledger that they are made of.
import { type ApiType, apiTypes } from '../../contract/credits.ts'
import { ledgerTable } from '../credits/ledger/list-store.ts'
import type { Queries, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'
import { idRange } from '../db/time-ordered.ts'

export type StoredStatement = Readonly<Tables['statement']>

export function findStatement(
  queries: Queries,
  accountId: number,
  month: string,
): Promise<StoredStatement | undefined> {
  return queries.one('SELECT * FROM statement WHERE account_id = ? AND month = ?', [accountId, month])
}

export function findLatestBefore(
  queries: Queries,
  accountId: number,
  month: string,
): Promise<StoredStatement | undefined> {
  return queries.one(
    'SELECT * FROM statement WHERE account_id = ? AND month < ? ORDER BY month DESC LIMIT 1',
    [accountId, month],
  )
}

/** Newest first. */
export function listStatements(queries: Queries, accountId: number): Promise<StoredStatement[]> {
  return queries.all('SELECT * FROM statement WHERE account_id = ? ORDER BY month DESC LIMIT 600', [
    accountId,
  ])
}

/** A statement is written once: another process may have been first. */
export async function insertStatement(
  tx: Tx,
  statement: Omit<StoredStatement, 'id' | 'created_at'>,
): Promise<void> {
  await tx.run(
    `INSERT INTO statement (account_id, month, content, digest, signature, created_at)
     VALUES (?, ?, ?, ?, ?, ${tx.now}) ON CONFLICT (account_id, month) DO NOTHING`,
    [statement.account_id, statement.month, statement.content, statement.digest, statement.signature],
  )
}

/** Accounts from before `until` without a statement of the month, after an id. */
export function findAccountsWithout(
  queries: Queries,
  search: {
    readonly month: string
    readonly until: number
    readonly afterId: number
    readonly limit: number
  },
): Promise<{ id: number; username: string; created_at: number }[]> {
  return queries.all(
    `SELECT a.id, a.username, a.created_at FROM account a WHERE a.id > ? AND a.created_at < ?
       AND NOT EXISTS (SELECT 1 FROM statement s WHERE s.account_id = a.id AND s.month = ?)
     ORDER BY a.id LIMIT ?`,
    [search.afterId, search.until, search.month, search.limit],
  )
}

/** A position in the entries of one balance: after the entry with this id. */
export interface LedgerPosition {
  readonly id: number
  readonly balance: number
}

export const beginning: LedgerPosition = { id: 0, balance: 0 }

/** The positions after the last entry before a time, by type. */
export async function findPositions(
  queries: Queries,
  accountId: number,
  time: number,
): Promise<ReadonlyMap<ApiType, LedgerPosition>> {
  const { end } = await idRange(queries, ledgerTable, { end: time })
  const positions = await Promise.all(
    apiTypes.map(async (apiType) => {
      const found = await queries.one<LedgerPosition>(
        `SELECT id, balance_after AS balance FROM ledger
         WHERE account_id = ? AND api_type = ? AND id < ? AND at < ? ORDER BY id DESC LIMIT 1`,
        [accountId, apiType, end, time],
      )
      return [apiType, found ?? beginning] as const
    }),
  )
  return new Map(positions)
}

/** The last position, at `last` or before it, with this balance and this sum of what was bought. */
export async function findPositionOf(
  queries: Queries,
  accountId: number,
  apiType: ApiType,
  {
    last,
    balance,
    bought,
  }: { readonly last: LedgerPosition; readonly balance: number; readonly bought: number },
): Promise<LedgerPosition | undefined> {
  const grants = await queries.one<{ first: number | null; next: number | null }>(
    `SELECT MIN(CASE WHEN bought = ? THEN id END) AS first, MIN(CASE WHEN bought > ? THEN id END) AS next FROM
       (SELECT id, SUM(amount) OVER (ORDER BY id) AS bought FROM ledger
        WHERE account_id = ? AND api_type = ? AND kind = 'grant' AND kind <> 'charge') AS grants`,
    [bought, bought, accountId, apiType],
  )
  const first = bought === 0 ? 0 : grants?.first
  if (first === null || first === undefined) return undefined
  return queries.one(
    `SELECT id, balance_after AS balance FROM ledger
     WHERE account_id = ? AND api_type = ? AND id >= ? AND id < ? AND id <= ? AND balance_after = ?
     ORDER BY id DESC LIMIT 1`,
    [accountId, apiType, first, grants?.next ?? Number.MAX_SAFE_INTEGER, last.id, balance],
  )
}

export interface LedgerSums {
  readonly bought: number
  readonly used: number
  readonly refunded: number
}

/** Sums of the entries between two positions. */
export async function sumLedger(
  queries: Queries,
  accountId: number,
  apiType: ApiType,
  { start, end }: { readonly start: LedgerPosition; readonly end: LedgerPosition },
): Promise<LedgerSums> {
  const sum = (kind: string) => `COALESCE(SUM(CASE WHEN kind = '${kind}' THEN amount ELSE 0 END), 0)`
  const row = await queries.one<LedgerSums>(
    `SELECT ${sum('grant')} AS bought, -${sum('charge')} AS used, ${sum('refund')} AS refunded
     FROM ledger WHERE account_id = ? AND api_type = ? AND id > ? AND id <= ?`,
    [accountId, apiType, start.id, end.id],
  )
  return row ?? { bought: 0, used: 0, refunded: 0 }
}
