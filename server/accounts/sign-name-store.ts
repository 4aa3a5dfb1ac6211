// Approves a signature for an account. It is here and not in SMS, because changing an account can set its signature.
import type { Tx } from '../db/database.ts'

/** Adds the signature if the account does not have it yet. */
export async function approveSignName(tx: Tx, accountId: number, signName: string): Promise<void> {
  await tx.run(
    `INSERT INTO sms_account_signature (account_id, sign_name, type, status, created_at, updated_at)
     VALUES (?, ?, 'company', '审核通过', ${tx.now}, ${tx.now})
     ON CONFLICT (account_id, sign_name) DO UPDATE SET status = '审核通过', reason = '', updated_at = ${tx.now}`,
    [accountId, signName],
  )
}
