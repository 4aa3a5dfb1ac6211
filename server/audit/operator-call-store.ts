// The changes that operators and their tokens have made under an Idempotency-Key.
import { dayMs } from '../../contract/time.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../db/slices.ts'

/** How long an `Idempotency-Key` is remembered. */
const callLifetimeMs = dayMs

/** The token, locked until the transaction ends; false when it was revoked. */
export async function lockToken(tx: Tx, id: number): Promise<boolean> {
  const row = await tx.one(`SELECT id FROM operator_token WHERE id = ?${forUpdate(tx, 'FOR SHARE')}`, [id])
  return row !== undefined
}

/** A change with an Idempotency-Key. */
export interface OperatorCall {
  /** The id of a token, or minus that of an account for an operator in the console. In the column `token_id`. */
  readonly callerId: number
  readonly key: string
  readonly fingerprint: string
  readonly requestId: string
}

export type PreviousOperatorCall = Pick<Tables['operator_call'], 'fingerprint' | 'request_id' | 'response'>

export function findOperatorCall(
  queries: Queries,
  { callerId, key }: Pick<OperatorCall, 'callerId' | 'key'>,
): Promise<PreviousOperatorCall | undefined> {
  return queries.one<PreviousOperatorCall>(
    `SELECT fingerprint, request_id, response FROM operator_call
     WHERE token_id = ? AND idempotency_key = ? AND created_at > ${queries.now} - ${callLifetimeMs}`,
    [callerId, key],
  )
}

/** False when another call has used the key. A call may make several changes. */
export async function claimOperatorCall(tx: Tx, call: OperatorCall): Promise<boolean> {
  await tx.run(
    `DELETE FROM operator_call WHERE token_id = ? AND idempotency_key = ? AND created_at <= ${tx.now} - ${callLifetimeMs}`,
    [call.callerId, call.key],
  )
  await tx.run(
    `INSERT INTO operator_call (token_id, idempotency_key, fingerprint, request_id, created_at)
     VALUES (?, ?, ?, ?, ${tx.now}) ON CONFLICT DO NOTHING`,
    [call.callerId, call.key, call.fingerprint, call.requestId],
  )
  const row = await tx.one<Pick<Tables['operator_call'], 'request_id'>>(
    'SELECT request_id FROM operator_call WHERE token_id = ? AND idempotency_key = ?',
    [call.callerId, call.key],
  )
  return row?.request_id === call.requestId
}

export async function storeOperatorResponse(tx: Tx, call: OperatorCall, response: string): Promise<void> {
  await tx.run(
    'UPDATE operator_call SET response = ? WHERE token_id = ? AND idempotency_key = ? AND request_id = ?',
    [response, call.callerId, call.key, call.requestId],
  )
}

export function deleteOldOperatorCalls(db: Database, signal?: AbortSignal): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const deleted = await tx.run(
        `DELETE FROM operator_call WHERE id IN (SELECT id FROM operator_call
           WHERE created_at <= ${tx.now} - ${callLifetimeMs} ORDER BY created_at LIMIT ${rowsPerSlice})`,
      )
      return deleted === rowsPerSlice
    },
    signal,
  )
}
