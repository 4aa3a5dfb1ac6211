// The tokens of operators.
import { minuteMs } from '../../contract/time.ts'
import { countRows } from '../db/count-rows.ts'
import type { Queries, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'

export type OperatorToken = Readonly<Omit<Tables['operator_token'], 'token_hash'>>

const columns = 'id, account_id, name, hint, scopes, created_at, used_at, expires_on'

/** `used_at` is updated at most this often. */
const usedEveryMs = minuteMs

export function insertToken(
  tx: Tx,
  token: Pick<
    Tables['operator_token'],
    'account_id' | 'name' | 'token_hash' | 'hint' | 'scopes' | 'expires_on'
  >,
): Promise<OperatorToken | undefined> {
  return tx.one<OperatorToken>(
    `INSERT INTO operator_token (account_id, name, token_hash, hint, scopes, expires_on, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ${tx.now}) RETURNING ${columns}`,
    [token.account_id, token.name, token.token_hash, token.hint, token.scopes, token.expires_on],
  )
}

export function countTokens(queries: Queries): Promise<number> {
  return countRows(queries, 'operator_token')
}

export function listTokens(queries: Queries): Promise<(OperatorToken & { readonly username: string })[]> {
  return queries.all(
    `SELECT t.id, t.account_id, t.name, t.hint, t.scopes, t.created_at, t.used_at, t.expires_on, a.username
     FROM operator_token t JOIN account a ON a.id = t.account_id ORDER BY t.id DESC`,
  )
}

export function findTokenByHash(queries: Queries, tokenHash: string): Promise<OperatorToken | undefined> {
  return queries.one<OperatorToken>(`SELECT ${columns} FROM operator_token WHERE token_hash = ?`, [tokenHash])
}

/** Returns the name of the token; undefined when there is none with this id. */
export async function deleteToken(tx: Tx, id: number): Promise<string | undefined> {
  const row = await tx.one<Pick<Tables['operator_token'], 'name'>>(
    'DELETE FROM operator_token WHERE id = ? RETURNING name',
    [id],
  )
  return row?.name
}

export async function markTokenUsed(tx: Tx, id: number): Promise<void> {
  await tx.run(
    `UPDATE operator_token SET used_at = ${tx.now} WHERE id = ? AND (used_at IS NULL OR used_at < ${tx.now} - ${usedEveryMs})`,
    [id],
  )
}

export function shouldMarkUsed({ used_at: at }: OperatorToken): boolean {
  return at === null || at < Date.now() - usedEveryMs
}
