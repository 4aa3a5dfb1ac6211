// Receipts of messages whose records do not have the gateway's id yet: kept for some minutes, found when a record has it.
import { minuteMs } from '../../contract/time.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { forUpdate, valueTable } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../db/slices.ts'

export type EarlyReceipt = Omit<Tables['sms_early_receipt'], 'received_at'>

/** Of each gateway. Receipts of other systems that use the same vendor account never find a message. */
export const maxEarlyReceipts = 10_000

/** A call to a gateway takes less, also when its end waits for the database. */
const keptMs = 5 * minuteMs

const columns = {
  to_gateway: 'text',
  id_there: 'text',
  number: 'text',
  new_state: 'text',
  carrier_code: 'text',
} as const

/** The first receipt of a message counts. Returns how many receipts there was no place for. */
export async function insertEarlyReceipts(
  tx: Tx,
  gateway: string,
  receipts: readonly EarlyReceipt[],
): Promise<number> {
  const row = await tx.one<{ kept: number }>(
    'SELECT COUNT(*) AS kept FROM sms_early_receipt WHERE gateway = ?',
    [gateway],
  )
  const added = receipts.slice(0, Math.max(0, maxEarlyReceipts - (row?.kept ?? 0)))
  if (added.length > 0) {
    const list = valueTable(
      tx,
      columns,
      added.map(({ gateway_id, phone, state, code }) => ({
        to_gateway: gateway,
        id_there: gateway_id,
        number: phone,
        new_state: state,
        carrier_code: code,
      })),
    )
    await tx.run(
      `INSERT INTO sms_early_receipt (gateway, gateway_id, phone, state, code, received_at)
       SELECT t.to_gateway, t.id_there, t.number, t.new_state, t.carrier_code, ${tx.now} FROM ${list.sql} AS t
       WHERE true ORDER BY 1, 2, 3 ON CONFLICT (gateway, gateway_id, phone) DO NOTHING`,
      list.values,
    )
  }
  return receipts.length - added.length
}

/** Those whose message is recorded now. */
export function findRecordedReceipts(queries: Queries, limit: number): Promise<EarlyReceipt[]> {
  return queries.all<EarlyReceipt>(
    `SELECT e.gateway, e.gateway_id, e.phone, e.state, e.code FROM sms_early_receipt e
     JOIN sms_send s ON s.gateway_id = e.gateway_id AND s.gateway = e.gateway ORDER BY e.received_at LIMIT ${limit}`,
  )
}

export async function deleteEarlyReceipt(
  tx: Tx,
  { gateway, gateway_id, phone }: Pick<EarlyReceipt, 'gateway' | 'gateway_id' | 'phone'>,
): Promise<void> {
  await tx.run('DELETE FROM sms_early_receipt WHERE gateway = ? AND gateway_id = ? AND phone = ?', [
    gateway,
    gateway_id,
    phone,
  ])
}

export function deleteOldEarlyReceipts(db: Database, signal?: AbortSignal): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const deleted = await tx.run(
        `DELETE FROM sms_early_receipt WHERE (gateway, gateway_id, phone) IN
           (SELECT gateway, gateway_id, phone FROM sms_early_receipt WHERE received_at < ${tx.now} - ${keptMs}
            ORDER BY received_at LIMIT ${rowsPerSlice}${forUpdate(tx, 'FOR UPDATE SKIP LOCKED')})`,
      )
      return deleted === rowsPerSlice
    },
    signal,
  )
}
