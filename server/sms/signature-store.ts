// Signature requests: the latest one of each account.
import type { Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'

export type SignatureRow = Tables['sms_signature']

export function findSignature(queries: Queries, accountId: number): Promise<SignatureRow | undefined> {
  return queries.one<SignatureRow>('SELECT * FROM sms_signature WHERE account_id = ?', [accountId])
}

export function lockSignature(tx: Tx, id: number): Promise<SignatureRow | undefined> {
  return tx.one<SignatureRow>(`SELECT * FROM sms_signature WHERE id = ?${forUpdate(tx)}`, [id])
}

/** A new request has a new id, so that a decision on the old text does not apply to it. */
export async function replaceSignature(
  tx: Tx,
  accountId: number,
  signName: string | undefined,
): Promise<void> {
  await tx.run('DELETE FROM sms_signature WHERE account_id = ?', [accountId])
  if (signName === undefined) return
  await tx.run(
    `INSERT INTO sms_signature (account_id, sign_name, status, at) VALUES (?, ?, '审核中', ${tx.now})`,
    [accountId, signName],
  )
}

export async function decideSignature(
  tx: Tx,
  id: number,
  decision: Pick<SignatureRow, 'status' | 'reason'>,
): Promise<void> {
  await tx.run('UPDATE sms_signature SET status = ?, reason = ? WHERE id = ?', [
    decision.status,
    decision.reason,
    id,
  ])
}
