// The tables of verified mail addresses, and of the codes and links sent by mail.
import { mailTokenMs } from '../../contract/console/limits.ts'
import { countRows } from '../db/count-rows.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { deleteOlderThan } from '../db/time-ordered.ts'

export type MailRow = Readonly<Pick<Tables['account_mail'], 'account_id' | 'address' | 'verified_at'>>

export type MailToken = Readonly<
  Pick<Tables['mail_token'], 'id' | 'account_id' | 'token_hash' | 'address' | 'attempts'>
>

const tokenColumns = 'id, account_id, token_hash, address, attempts'

export function findMail(queries: Queries, accountId: number): Promise<MailRow | undefined> {
  return queries.one<MailRow>(
    'SELECT account_id, address, verified_at FROM account_mail WHERE account_id = ?',
    [accountId],
  )
}

/** The accounts with this address that may sign in. */
export function findAccountsByMail(
  queries: Queries,
  addressHash: string,
  limit: number,
): Promise<{ id: number; username: string }[]> {
  return queries.all(
    `SELECT a.id, a.username FROM account_mail m JOIN account a ON a.id = m.account_id
     WHERE m.address_hash = ? AND a.suspended = 0 ORDER BY a.id LIMIT ${limit}`,
    [addressHash],
  )
}

export function countByMail(queries: Queries, addressHash: string, exceptId: number): Promise<number> {
  return countRows(queries, 'account_mail WHERE address_hash = ? AND account_id <> ?', [
    addressHash,
    exceptId,
  ])
}

export async function replaceMail(
  tx: Tx,
  accountId: number,
  address: string,
  addressHash: string,
): Promise<void> {
  await tx.run(
    `INSERT INTO account_mail (account_id, address, address_hash, verified_at) VALUES (?, ?, ?, ${tx.now})
     ON CONFLICT (account_id) DO UPDATE SET address = excluded.address, address_hash = excluded.address_hash,
       verified_at = excluded.verified_at`,
    [accountId, address, addressHash],
  )
}

export async function deleteMail(tx: Tx, accountId: number): Promise<void> {
  await tx.run('DELETE FROM account_mail WHERE account_id = ?', [accountId])
}

export async function insertMailToken(
  tx: Tx,
  token: Pick<Tables['mail_token'], 'account_id' | 'purpose' | 'token_hash' | 'address'>,
): Promise<void> {
  await tx.run(
    `INSERT INTO mail_token (account_id, purpose, token_hash, address, created_at) VALUES (?, ?, ?, ?, ${tx.now})`,
    [token.account_id, token.purpose, token.token_hash, token.address],
  )
}

/** Locks and returns the newest code that verifies an address of the account. */
export function lockVerification(tx: Tx, accountId: number): Promise<MailToken | undefined> {
  return tx.one<MailToken>(
    `SELECT ${tokenColumns} FROM mail_token WHERE account_id = ? AND purpose = 'verify'
       AND created_at > ${tx.now} - ${mailTokenMs} ORDER BY id DESC LIMIT 1${forUpdate(tx)}`,
    [accountId],
  )
}

export function findRecovery(queries: Queries, tokenHash: string): Promise<MailToken | undefined> {
  return queries.one<MailToken>(
    `SELECT ${tokenColumns} FROM mail_token WHERE token_hash = ? AND purpose = 'recover'
       AND created_at > ${queries.now} - ${mailTokenMs}`,
    [tokenHash],
  )
}

export async function countAttempt(tx: Tx, id: number): Promise<void> {
  await tx.run('UPDATE mail_token SET attempts = attempts + 1 WHERE id = ?', [id])
}

/** Deletes all codes and links of the account. False when the given link was no longer there. */
export async function deleteMailTokens(tx: Tx, accountId: number, tokenHash?: string): Promise<boolean> {
  const used =
    tokenHash === undefined ||
    (await tx.run('DELETE FROM mail_token WHERE token_hash = ? AND account_id = ?', [
      tokenHash,
      accountId,
    ])) === 1
  await tx.run('DELETE FROM mail_token WHERE account_id = ?', [accountId])
  return used
}

/** Deletes the links with which a new password could be set. */
export async function deleteRecoveries(tx: Tx, accountId: number): Promise<void> {
  await tx.run(`DELETE FROM mail_token WHERE account_id = ? AND purpose = 'recover'`, [accountId])
}

/** Tokens are invalid after half an hour, so nothing reads a row that is a day old. */
export function deleteOldMailTokens(db: Database, signal: AbortSignal): Promise<number> {
  return deleteOlderThan(db, { table: 'mail_token', time: 'created_at' }, 1, signal)
}
