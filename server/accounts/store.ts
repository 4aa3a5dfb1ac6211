// The account table.
import type { OperatorRole } from '../../contract/console/roles.ts'
import { apiTypes } from '../../contract/credits.ts'
import { uniqueNameOf } from '../../contract/usernames.ts'
import { countRows } from '../db/count-rows.ts'
import { coalesce } from '../db/coalesce.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { forUpdate, idList, rowVersion } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { memoizePerTick } from '../http/memoize-per-tick.ts'

export type Role = Tables['account']['role']

export type Account = Readonly<Omit<Tables['account'], 'password_hash' | 'unique_name' | 'expiry_reported'>>

/** Everything but the password. */
export const accountColumnNames = [
  'id',
  'username',
  'role',
  'operator_role',
  'key_hash',
  'key_hint',
  'key_created_at',
  'expires_on',
  'suspended',
  'sms_enabled',
  'sign_name',
  'has_stops',
  'rate_limit',
  'scopes',
  'allow_ips',
  'prices',
  'event_types',
  'alert_percents',
  'created_at',
] as const satisfies readonly (keyof Account)[]

const accountColumns = accountColumnNames.join(', ')

/** The version is that of the row; null on SQLite. */
export type AccountOfKey = Account & { readonly version: string | null }

export type FindByKey = (keyHash: string) => Promise<AccountOfKey | undefined>

/** Finds accounts by key, with one query per turn of the event loop. Nothing is cached beyond the turn. */
export function createKeyLookup(db: Database): FindByKey {
  const direct = db.direct
  const select = `SELECT ${accountColumns}, ${rowVersion(db, 'account')} AS version FROM account`
  if (direct) {
    const sql = `${select} WHERE key_hash = ?`
    const find = memoizePerTick((keyHash: string) => direct.one<AccountOfKey>(sql, [keyHash]))
    return async (keyHash) => find(keyHash)
  }
  return coalesce(async (hashes) => {
    // For one key the server uses the same plan again; for a list it makes a plan each time, which takes longer than the query.
    const rows =
      hashes.length === 1
        ? await db.all<AccountOfKey>(`${select} WHERE key_hash = ?`, hashes)
        : await db.all<AccountOfKey>(`${select} WHERE key_hash = ANY(?)`, [hashes])
    return new Map(rows.map((row) => [row.key_hash ?? '', row]))
  })
}

export function findByUsername(queries: Queries, username: string): Promise<Account | undefined> {
  return queries.one<Account>(`SELECT ${accountColumns} FROM account WHERE username = ?`, [username])
}

export function findById(queries: Queries, id: number): Promise<Account | undefined> {
  return queries.one<Account>(`SELECT ${accountColumns} FROM account WHERE id = ?`, [id])
}

export function findByIds(queries: Queries, ids: readonly number[]): Promise<Account[]> {
  const list = idList(queries, ids)
  return queries.all<Account>(`SELECT ${accountColumns} FROM account WHERE id IN ${list.sql}`, [list.value])
}

/** Locks the account until the transaction ends. */
export function lockAccount(tx: Tx, id: number): Promise<Account | undefined> {
  return tx.one<Account>(
    `SELECT ${accountColumns} FROM account WHERE id = ?${forUpdate(tx, 'FOR NO KEY UPDATE')}`,
    [id],
  )
}

export async function findPasswordHash(queries: Queries, id: number): Promise<string | undefined> {
  const row = await queries.one<Pick<Tables['account'], 'password_hash'>>(
    'SELECT password_hash FROM account WHERE id = ?',
    [id],
  )
  return row?.password_hash
}

/** Locks the account until the transaction ends, if this is still its password. */
export async function lockByPassword(tx: Tx, id: number, passwordHash: string): Promise<boolean> {
  const row = await tx.one(
    `SELECT id FROM account WHERE id = ? AND password_hash = ?${forUpdate(tx, 'FOR NO KEY UPDATE')}`,
    [id, passwordHash],
  )
  return row !== undefined
}

/** The ids of the owners who are not suspended, locked until the transaction ends. */
export async function lockOwners(tx: Tx): Promise<number[]> {
  const rows = await tx.all<Pick<Tables['account'], 'id'>>(
    `SELECT id FROM account WHERE role = 'operator' AND operator_role = 'owner' AND suspended = 0
     ORDER BY id${forUpdate(tx, 'FOR NO KEY UPDATE')}`,
  )
  return rows.map(({ id }) => id)
}

export function listAccounts(queries: Queries): Promise<Account[]> {
  return queries.all<Account>(`SELECT ${accountColumns} FROM account ORDER BY id`)
}

export function countAccounts(queries: Queries): Promise<number> {
  return countRows(queries, 'account')
}

export interface NewAccount {
  readonly username: string
  readonly role: Role
  readonly operatorRole: OperatorRole
  readonly passwordHash: string
  readonly expiresOn: string | null
}

/** Inserts the account and its four empty balances; undefined when the name is taken, in any case or width. */
export async function insertAccount(tx: Tx, account: NewAccount): Promise<number | undefined> {
  const { username, role, operatorRole, passwordHash, expiresOn } = account
  // Accounts without a unique name are those that shared it before, and those created by the previous version meanwhile.
  const older = await tx.one(
    'SELECT id FROM account WHERE unique_name IS NULL AND LOWER(username) = LOWER(?)',
    [username],
  )
  if (older) return undefined
  const row = await tx.one<Pick<Tables['account'], 'id'>>(
    `INSERT INTO account (username, unique_name, role, operator_role, password_hash, expires_on, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ${tx.now}) ON CONFLICT DO NOTHING RETURNING id`,
    [username, uniqueNameOf(username), role, operatorRole, passwordHash, expiresOn],
  )
  if (!row) return undefined
  for (const apiType of apiTypes) {
    await tx.run('INSERT INTO credit (account_id, api_type) VALUES (?, ?)', [row.id, apiType])
  }
  return row.id
}

/** Replaces the key, or removes it. */
export async function replaceKey(
  tx: Tx,
  id: number,
  key: { hash: string; hint: string } | undefined,
): Promise<void> {
  await tx.run(
    `UPDATE account SET key_hash = ?, key_hint = ?, key_created_at = CASE WHEN ? = 1 THEN ${tx.now} ELSE NULL END
     WHERE id = ?`,
    [key?.hash ?? null, key?.hint ?? null, key ? 1 : 0, id],
  )
}

/** False when the account already has a key. */
export async function insertKey(tx: Tx, id: number, key: { hash: string; hint: string }): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE account SET key_hash = ?, key_hint = ?, key_created_at = ${tx.now} WHERE id = ? AND key_hash IS NULL`,
    [key.hash, key.hint, id],
  )
  return changed === 1
}

export type AccountUpdate = Partial<
  Pick<
    Tables['account'],
    | 'expires_on'
    | 'suspended'
    | 'sms_enabled'
    | 'sign_name'
    | 'rate_limit'
    | 'password_hash'
    | 'scopes'
    | 'allow_ips'
    | 'prices'
    | 'alert_percents'
    | 'operator_role'
  >
>

export async function updateAccount(tx: Tx, id: number, change: AccountUpdate): Promise<void> {
  if (Object.keys(change).length === 0) return
  await tx.kysely.updateTable('account').set(change).where('id', '=', id).execute()
}
