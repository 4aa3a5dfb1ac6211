// The tables of second factors and recovery codes.
import { countRows } from '../db/count-rows.ts'
import type { Queries, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'

export type SecondFactorRow = Readonly<Pick<Tables['second_factor'], 'secret' | 'last_step' | 'enabled_at'>>

export function findSecondFactor(queries: Queries, accountId: number): Promise<SecondFactorRow | undefined> {
  return queries.one<SecondFactorRow>(
    'SELECT secret, last_step, enabled_at FROM second_factor WHERE account_id = ?',
    [accountId],
  )
}

/** False when the second factor is enabled already. */
export async function insertEnrolment(tx: Tx, accountId: number, secret: string): Promise<boolean> {
  const changed = await tx.run(
    `INSERT INTO second_factor (account_id, secret) VALUES (?, ?)
     ON CONFLICT (account_id) DO UPDATE SET secret = excluded.secret, last_step = 0
     WHERE second_factor.enabled_at IS NULL`,
    [accountId, secret],
  )
  return changed === 1
}

/** False when there is no enrolment with this secret, or the second factor is enabled already. */
export async function enableSecondFactor(
  tx: Tx,
  accountId: number,
  secret: string,
  step: number,
): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE second_factor SET enabled_at = ${tx.now}, last_step = ?
     WHERE account_id = ? AND secret = ? AND enabled_at IS NULL`,
    [step, accountId, secret],
  )
  return changed === 1
}

/** False when a code of this step, or of a later one, was accepted before. */
export async function useStep(tx: Tx, accountId: number, step: number): Promise<boolean> {
  const changed = await tx.run(
    'UPDATE second_factor SET last_step = ? WHERE account_id = ? AND last_step < ? AND enabled_at IS NOT NULL',
    [step, accountId, step],
  )
  return changed === 1
}

export async function deleteSecondFactor(tx: Tx, accountId: number): Promise<boolean> {
  await tx.run('DELETE FROM recovery_code WHERE account_id = ?', [accountId])
  return (await tx.run('DELETE FROM second_factor WHERE account_id = ?', [accountId])) === 1
}

export async function replaceRecoveryCodes(
  tx: Tx,
  accountId: number,
  hashes: readonly string[],
): Promise<void> {
  await tx.run('DELETE FROM recovery_code WHERE account_id = ?', [accountId])
  for (const hash of hashes)
    await tx.run('INSERT INTO recovery_code (account_id, code_hash) VALUES (?, ?)', [accountId, hash])
}

/** False when there is no such code, or it was used. */
export async function useRecoveryCode(tx: Tx, accountId: number, hash: string): Promise<boolean> {
  return (
    (await tx.run('DELETE FROM recovery_code WHERE account_id = ? AND code_hash = ?', [accountId, hash])) ===
    1
  )
}

export function countRecoveryCodes(queries: Queries, accountId: number): Promise<number> {
  return countRows(queries, 'recovery_code WHERE account_id = ?', [accountId])
}
