// Searches accounts for the operator's list.
import { type Account, accountColumns } from './store.ts'
import type { Queries } from '../db/database.ts'

export interface AccountSearch {
  readonly q?: string | undefined
  readonly state?: 'active' | 'expired' | 'suspended' | 'operator' | undefined
  /** Decides which accounts have expired. */
  readonly today?: string
  readonly sort: 'created' | 'username' | 'expires'
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
}

const sortColumns = { created: 'id', username: 'username', expires: `COALESCE(expires_on, '9999')` } as const

/** The conditions and their values, in order. */
function conditionsOf({ q, state, today = '' }: AccountSearch): readonly (readonly [string, ...string[]])[] {
  const conditions: [string, ...string[]][] = []
  if (q !== undefined && q !== '') {
    const pattern = `%${q.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`
    conditions.push([`(LOWER(username) LIKE ? ESCAPE '!' OR CAST(id AS text) = ?)`, pattern, q])
  }
  if (state === 'operator') conditions.push([`role = 'operator'`])
  if (state === 'suspended') conditions.push(['suspended = 1'])
  if (state === 'expired') conditions.push(['expires_on < ?', today])
  if (state === 'active') {
    conditions.push(['suspended = 0 AND (expires_on IS NULL OR expires_on >= ?)', today])
  }
  return conditions
}

export async function searchAccounts(
  queries: Queries,
  search: AccountSearch,
): Promise<{ rows: Account[]; total: number }> {
  const conditions = conditionsOf(search)
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(([sql]) => sql).join(' AND ')}`
  const values = conditions.flatMap(([, ...bound]) => bound)
  const order = search.order === 'asc' ? 'ASC' : 'DESC'
  const rows = await queries.all<Account>(
    `SELECT ${accountColumns} FROM account ${where}
     ORDER BY ${sortColumns[search.sort]} ${order}, id ${order} LIMIT ? OFFSET ?`,
    [...values, search.limit, search.offset],
  )
  const counted = await queries.one<{ count: number }>(
    `SELECT COUNT(*) AS count FROM account ${where}`,
    values,
  )
  return { rows, total: counted?.count ?? 0 }
}

/** Counts all accounts, the suspended ones, and those with calls since a day. */
export async function countAccountsByState(
  queries: Queries,
  sinceDay: string,
): Promise<{ total: number; suspended: number; active: number }> {
  const row = await queries.one<{ total: number; suspended: number | null; active: number | null }>(
    `SELECT COUNT(*) AS total, SUM(suspended) AS suspended,
       SUM(CASE WHEN EXISTS (SELECT 1 FROM call_day d WHERE d.account_id = account.id AND d.day >= ?) THEN 1 ELSE 0 END)
         AS active FROM account`,
    [sinceDay],
  )
  return { total: row?.total ?? 0, suspended: row?.suspended ?? 0, active: row?.active ?? 0 }
}
