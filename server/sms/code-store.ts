// The current one-time code of each account, phone number and purpose.
import type { Database, Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../db/slices.ts'

export type CodeRow = Tables['sms_code']

/** What a code is for. */
export type CodeKey = Pick<CodeRow, 'account_id' | 'phone' | 'purpose'>

/** Milliseconds until another code may be sent; 0 or less when it may be sent now. */
export async function findWait(queries: Queries, key: CodeKey, pauseMs: number): Promise<number> {
  const row = await queries.one<{ wait: number }>(
    `SELECT sent_at + ${pauseMs} - ${queries.now} AS wait FROM sms_code
     WHERE account_id = ? AND phone = ? AND purpose = ? AND sent_at <= ${queries.now} + ${pauseMs}`,
    [key.account_id, key.phone, key.purpose],
  )
  return row?.wait ?? 0
}

/**
 * Replaces the code, unless the previous one was sent less than `pauseMs` before. Returns whether it did. One from further ahead is from
 * before the clock was set back.
 */
export async function replaceCode(tx: Tx, row: CodeRow, pauseMs: number): Promise<boolean> {
  const changed = await tx.run(
    `INSERT INTO sms_code (account_id, phone, purpose, hash, attempts_left, operation_id, sent_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (account_id, phone, purpose) DO UPDATE SET hash = excluded.hash, attempts_left = excluded.attempts_left,
       operation_id = excluded.operation_id, sent_at = excluded.sent_at, expires_at = excluded.expires_at
     WHERE sms_code.sent_at <= excluded.sent_at - ${pauseMs} OR sms_code.sent_at > excluded.sent_at + ${pauseMs}`,
    [
      row.account_id,
      row.phone,
      row.purpose,
      row.hash,
      row.attempts_left,
      row.operation_id,
      row.sent_at,
      row.expires_at,
    ],
  )
  return changed === 1
}

/** Removes the code of a message that was not sent, unless a newer one replaced it. */
export async function removeCode(tx: Tx, key: CodeKey, operationId: number): Promise<void> {
  await tx.run(
    'DELETE FROM sms_code WHERE account_id = ? AND phone = ? AND purpose = ? AND operation_id = ?',
    [key.account_id, key.phone, key.purpose, operationId],
  )
}

/** A code that can still be checked. Other checks of it wait until the transaction ends. */
export function lockValidCode(
  tx: Tx,
  key: CodeKey,
): Promise<Pick<CodeRow, 'hash' | 'attempts_left'> | undefined> {
  return tx.one(
    `SELECT hash, attempts_left FROM sms_code
     WHERE account_id = ? AND phone = ? AND purpose = ? AND attempts_left > 0 AND expires_at > ${tx.now}${forUpdate(tx)}`,
    [key.account_id, key.phone, key.purpose],
  )
}

export async function updateAttempts(tx: Tx, key: CodeKey, attemptsLeft: number): Promise<void> {
  await tx.run('UPDATE sms_code SET attempts_left = ? WHERE account_id = ? AND phone = ? AND purpose = ?', [
    attemptsLeft,
    key.account_id,
    key.phone,
    key.purpose,
  ])
}

/** The code that an operation sent; undefined when it sent none, or a newer one replaced it. */
export function findCodeOf(
  queries: Queries,
  send: { readonly account_id: number; readonly phone: string; readonly operation_id: number },
): Promise<(CodeKey & Pick<CodeRow, 'expires_at'>) | undefined> {
  return queries.one(
    `SELECT account_id, phone, purpose, expires_at FROM sms_code
     WHERE account_id = ? AND phone = ? AND operation_id = ?`,
    [send.account_id, send.phone, send.operation_id],
  )
}

export function deleteExpiredCodes(db: Database, signal?: AbortSignal): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const deleted = await tx.run(
        `DELETE FROM sms_code WHERE (account_id, phone, purpose) IN
           (SELECT account_id, phone, purpose FROM sms_code WHERE expires_at < ${tx.now} ORDER BY expires_at
            LIMIT ${rowsPerSlice}${forUpdate(tx, 'FOR UPDATE SKIP LOCKED')})`,
      )
      return deleted === rowsPerSlice
    },
    signal,
  )
}
