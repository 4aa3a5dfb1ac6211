// The signatures of accounts.
import type { Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { removeVendorReviews } from './reviews/store.ts'

export type SignatureRow = Tables['sms_account_signature']

/** Oldest first. */
export function findSignatures(queries: Queries, accountId: number): Promise<SignatureRow[]> {
  return queries.all<SignatureRow>('SELECT * FROM sms_account_signature WHERE account_id = ? ORDER BY id', [
    accountId,
  ])
}

export function findSignature(
  queries: Queries,
  accountId: number,
  signName: string,
): Promise<SignatureRow | undefined> {
  return queries.one<SignatureRow>(
    'SELECT * FROM sms_account_signature WHERE account_id = ? AND sign_name = ?',
    [accountId, signName],
  )
}

export async function isApproved(queries: Queries, accountId: number, signName: string): Promise<boolean> {
  const row = await queries.one(
    `SELECT 1 AS found FROM sms_account_signature
     WHERE account_id = ? AND sign_name = ? AND status = '审核通过'`,
    [accountId, signName],
  )
  return row !== undefined
}

export function findSignatureById(queries: Queries, id: number): Promise<SignatureRow | undefined> {
  return queries.one<SignatureRow>('SELECT * FROM sms_account_signature WHERE id = ?', [id])
}

/** The account is locked first. */
export function lockSignature(tx: Tx, id: number): Promise<SignatureRow | undefined> {
  return tx.one<SignatureRow>(`SELECT * FROM sms_account_signature WHERE id = ?${forUpdate(tx)}`, [id])
}

/** Undefined when the account has a signature of this name. */
export function insertSignature(
  tx: Tx,
  row: Pick<SignatureRow, 'account_id' | 'sign_name' | 'type' | 'status' | 'reason' | 'note'>,
): Promise<SignatureRow | undefined> {
  return tx.one<SignatureRow>(
    `INSERT INTO sms_account_signature (account_id, sign_name, type, status, reason, note, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ${tx.now}, ${tx.now}) ON CONFLICT DO NOTHING RETURNING *`,
    [row.account_id, row.sign_name, row.type, row.status, row.reason, row.note],
  )
}

export async function updateSignature(
  tx: Tx,
  row: Pick<SignatureRow, 'id' | 'type' | 'status' | 'reason' | 'note' | 'revision'>,
): Promise<void> {
  await tx.run(
    `UPDATE sms_account_signature SET type = ?, status = ?, reason = ?, note = ?, revision = ?, updated_at = ${tx.now}
     WHERE id = ?`,
    [row.type, row.status, row.reason, row.note, row.revision, row.id],
  )
}

export async function removeSignature(tx: Tx, id: number): Promise<void> {
  await tx.run('DELETE FROM sms_signature_proof WHERE signature_id = ?', [id])
  await removeVendorReviews(tx, 'signature', id)
  await tx.run('DELETE FROM sms_account_signature WHERE id = ?', [id])
}
