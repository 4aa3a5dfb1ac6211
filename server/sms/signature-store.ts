// The signatures that accounts ask for: one request per account, the present or the last one.
import type { TemplateState } from '../../contract/sms-text.ts'
import type { Queries, Tx } from '../db/database.ts'

export interface SignatureRow {
  readonly id: number
  readonly account_id: number
  readonly sign_name: string
  readonly status: TemplateState
  readonly reason: string
  readonly at: number
}

const columns = 'id, account_id, sign_name, status, reason, at'

export function findSignature(queries: Queries, accountId: number): Promise<SignatureRow | undefined> {
  return queries.one<SignatureRow>(`SELECT ${columns} FROM sms_signature WHERE account_id = ?`, [accountId])
}

/** Reads a request to decide it. */
export function lockSignature(tx: Tx, id: number): Promise<SignatureRow | undefined> {
  const sql = `SELECT ${columns} FROM sms_signature WHERE id = ?`
  return tx.one<SignatureRow>(tx.engine === 'postgres' ? `${sql} FOR UPDATE` : sql, [id])
}

/** A new request has a new number: nobody decides on it by the old one, which was about other words. */
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
  decision: { status: TemplateState; reason: string },
): Promise<void> {
  await tx.run('UPDATE sms_signature SET status = ?, reason = ? WHERE id = ?', [
    decision.status,
    decision.reason,
    id,
  ])
}
