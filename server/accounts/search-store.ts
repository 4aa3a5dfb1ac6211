// Searches accounts for the operator's list.
import { sql } from 'kysely'
import { type Account, accountColumnNames } from './store.ts'
import type { Queries } from '../db/database.ts'
import { containsText } from '../db/text-search.ts'

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

export async function searchAccounts(
  queries: Queries,
  { q, state, today = '', sort, order, limit, offset }: AccountSearch,
): Promise<{ rows: Account[]; total: number }> {
  let query = queries.kysely.selectFrom('account')
  if (q !== undefined && q !== '') {
    query = query.where(({ or }) =>
      or([containsText(queries, 'username', q), sql<boolean>`CAST(id AS text) = ${q}`]),
    )
  }
  if (state === 'operator') query = query.where('role', '=', 'operator')
  if (state === 'suspended') query = query.where('suspended', '=', 1)
  if (state === 'expired') query = query.where('expires_on', '<', today)
  if (state === 'active') {
    query = query
      .where('suspended', '=', 0)
      .where((eb) => eb.or([eb('expires_on', 'is', null), eb('expires_on', '>=', today)]))
  }
  const sorted = {
    created: query.orderBy('id', order),
    username: query.orderBy('username', order).orderBy('id', order),
    expires: query.orderBy(sql`COALESCE(expires_on, '9999')`, order).orderBy('id', order),
  }[sort]
  const rows = await sorted.select(accountColumnNames).limit(limit).offset(offset).execute()
  const counted = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirst()
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
