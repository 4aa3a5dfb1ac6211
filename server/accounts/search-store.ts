// Searches accounts for the operator's list.
import type { Account } from './store.ts'
import type { Queries, Value } from '../db/database.ts'

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

const columns = `id, username, role, key_hash, key_hint, key_created_at, expires_on, suspended, sms_enabled, sign_name,
  rate_limit, created_at`

const sortColumns = { created: 'id', username: 'username', expires: `COALESCE(expires_on, '9999')` } as const

export async function searchAccounts(
  queries: Queries,
  search: AccountSearch,
): Promise<{ rows: Account[]; total: number }> {
  const terms: string[] = []
  const values: Value[] = []
  if (search.q !== undefined && search.q !== '') {
    terms.push(`(LOWER(username) LIKE ? ESCAPE '!' OR CAST(id AS text) = ?)`)
    values.push(`%${search.q.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`, search.q)
  }
  const today = search.today ?? ''
  switch (search.state) {
    case 'operator':
      terms.push(`role = 'operator'`)
      break
    case 'suspended':
      terms.push('suspended = 1')
      break
    case 'expired':
      terms.push('expires_on < ?')
      values.push(today)
      break
    case 'active':
      terms.push('suspended = 0 AND (expires_on IS NULL OR expires_on >= ?)')
      values.push(today)
      break
    case undefined:
      break
  }
  const where = terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`
  const direction = search.order === 'asc' ? 'ASC' : 'DESC'
  const rows = await queries.all<Account>(
    `SELECT ${columns} FROM account ${where} ORDER BY ${sortColumns[search.sort]} ${direction}, id ${direction} LIMIT ? OFFSET ?`,
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
