// The queue: messages that wait. Taking one deletes its row and starts the lease of its operation in the same transaction.
//
// Rows are locked in the same order everywhere: queue, operations, balances, send records, batches.
import { hourMs, minuteMs } from '../../../contract/time.ts'
import { startLeases, stopLeases } from '../../credits/store.ts'
import { bulkInsert, insertRows } from '../../db/bulk-insert.ts'
import { createBatcher } from '../../db/batcher.ts'
import type { Database, Queries, Tx } from '../../db/database.ts'
import { forUpdate, idList, valueTable } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { readClock } from '../number-limit-store.ts'
import { type BatchRow, lockBatches } from './store.ts'

export type QueueRow = Tables['sms_queue']

const queueRows = bulkInsert('sms_queue', {
  send_id: 'bigint',
  batch_id: 'bigint',
  account_id: 'bigint',
  operation_id: 'bigint',
  planned_at: 'bigint',
  due_at: 'bigint',
  tries: 'bigint',
  retry_until: 'bigint',
})

async function insertQueued(tx: Tx, rows: readonly QueueRow[]): Promise<void> {
  await insertRows(tx, queueRows, rows)
}

/**
 * Batches with due messages: first one of each account, those that were served longest ago first. Marketing batches only if
 * they may be sent now.
 */
export function findDueBatches(
  queries: Queries,
  withMarketing: boolean,
  limit: number,
): Promise<Pick<BatchRow, 'id'>[]> {
  return queries.all(
    `SELECT id FROM (SELECT id, served_at,
         ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY served_at, id) AS place,
         MAX(served_at) OVER (PARTITION BY account_id) AS account_served_at
       FROM sms_batch WHERE next_at <= ${queries.now} AND marketing <= ?) due
     ORDER BY place, account_served_at, served_at LIMIT ${limit}`,
    [withMarketing ? 1 : 0],
  )
}

type SendColumns = Pick<
  Tables['sms_send'],
  'id' | 'account_id' | 'phone' | 'template_code' | 'template_params' | 'sign_name' | 'created_at'
> & { readonly sent_at: number }

/** A message that left the queue. Only the process that took it may send it or put it back. */
export interface TakenMessage {
  readonly row: QueueRow
  readonly send: SendColumns
  readonly batch: BatchRow
}

export interface Taking {
  /** Messages of each batch, at most. */
  readonly share: number
  readonly leaseMs: number
  /** The gateway that is called first. Undefined without any gateway. */
  readonly gateway: string | undefined
}

/**
 * Takes due messages. The lease of their operations begins. The records name the gateway that is called now: it was another one
 * if SMS_GATEWAYS has changed since, or if an earlier try ended at the last gateway.
 */
export async function takeMessages(
  tx: Tx,
  batchIds: readonly number[],
  { share, leaseMs, gateway }: Taking,
): Promise<TakenMessage[]> {
  const rows: QueueRow[] = []
  for (const id of batchIds) {
    const taken = await tx.all<QueueRow>(
      `DELETE FROM sms_queue WHERE send_id IN (SELECT send_id FROM sms_queue WHERE batch_id = ? AND due_at <= ${tx.now}
         ORDER BY due_at, send_id LIMIT ${share}${forUpdate(tx, 'FOR UPDATE SKIP LOCKED')}) RETURNING *`,
      [id],
    )
    rows.push(...taken)
  }
  // Someone else may have ended an operation: an older version that does not know the queue.
  const held = await startLeases(
    tx,
    rows.map((row) => row.operation_id),
    leaseMs,
  )
  const open = rows.filter((row) => held.has(row.operation_id))
  const list = idList(
    tx,
    open.map((row) => row.send_id),
  )
  const sends = await tx.all<SendColumns>(
    `UPDATE sms_send SET sent_at = ${tx.now}, gateway = COALESCE(?, gateway) WHERE id IN ${list.sql}
     RETURNING id, account_id, phone, template_code, template_params, sign_name, created_at, sent_at`,
    [gateway ?? null, list.value],
  )
  const batches = await updateBatches(tx, batchIds, countByBatch(rows, -1), true)
  const sendById = new Map(sends.map((send) => [send.id, send]))
  return open.flatMap((row) => {
    const send = sendById.get(row.send_id)
    const batch = batches.get(row.batch_id)
    return send && batch ? [{ row, send, batch }] : []
  })
}

interface ReturnedMessage {
  readonly row: QueueRow
  /** From now, by the database's clock. */
  readonly delayMs: number
}

/** Messages that return at the same time share a transaction. */
export function createReturnBatcher(db: Database): (message: ReturnedMessage) => Promise<undefined> {
  return createBatcher<ReturnedMessage, undefined>(db, {
    maxBatch: 256,
    queueKeyOf: ({ row }) => row.account_id,
    async run(tx, messages) {
      await putBack(tx, messages)
      return messages.map(() => undefined)
    },
  })
}

/** Puts messages back that were provably not sent. Those whose operation was decided meanwhile stay out. */
async function putBack(tx: Tx, messages: readonly ReturnedMessage[]): Promise<void> {
  const held = await stopLeases(
    tx,
    messages.map(({ row }) => row.operation_id),
  )
  const now = await readClock(tx)
  const open = messages.flatMap(({ row, delayMs }) =>
    held.has(row.operation_id) ? [{ ...row, due_at: now + delayMs }] : [],
  )
  if (open.length === 0) return
  await insertQueued(tx, open)
  const counts = countByBatch(open, 1)
  await updateBatches(tx, [...counts.keys()], counts, false)
}

/** Longer than until the next try, and than until a marketing message may be sent. */
const maxWaitMs = { usual: minuteMs, marketing: 12 * hourMs }

/** When the messages of a batch may be sent: now, or when its account has scheduled them. */
const startOf = ({ now }: Queries) =>
  `CASE WHEN send_at > (SELECT ${now}) THEN send_at ELSE (SELECT ${now}) END`

/** Batches whose next message is due much later: from before the clock was set back. */
export function findPostponed(queries: Queries, limit: number): Promise<Pick<BatchRow, 'id'>[]> {
  return queries.all(
    `SELECT id FROM sms_batch WHERE next_at > (SELECT ${queries.now} + ${maxWaitMs.usual})
       AND next_at > ${startOf(queries)} + CASE WHEN marketing = 1 THEN ${maxWaitMs.marketing} ELSE ${maxWaitMs.usual} END
     LIMIT ${limit}`,
  )
}

export async function pullInMessages(tx: Tx, batchId: number): Promise<void> {
  await tx.run(
    `UPDATE sms_queue SET due_at = b.start_at FROM (SELECT ${startOf(tx)} AS start_at FROM sms_batch WHERE id = ?) AS b
     WHERE batch_id = ? AND due_at > b.start_at`,
    [batchId, batchId],
  )
  await updateBatches(tx, [batchId], new Map(), false)
}

/** Messages that are cancelled in one transaction. */
export const cancelledPerSlice = 500

/** Removes at most `cancelledPerSlice` waiting messages of a batch from the queue. */
export function removeWaiting(
  tx: Tx,
  batchId: number,
): Promise<(Pick<QueueRow, 'send_id' | 'operation_id' | 'planned_at'> & { phone: string })[]> {
  return tx.all(
    `DELETE FROM sms_queue WHERE send_id IN (SELECT send_id FROM sms_queue WHERE batch_id = ?
       ORDER BY send_id LIMIT ${cancelledPerSlice}${forUpdate(tx)})
     RETURNING send_id, operation_id, planned_at,
       (SELECT phone FROM sms_send WHERE sms_send.id = sms_queue.send_id) AS phone`,
    [batchId],
  )
}

/** After messages left the queue for good. */
export async function subtractWaiting(tx: Tx, batchId: number, messages: number): Promise<void> {
  await updateBatches(tx, [batchId], new Map([[batchId, -messages]]), false)
}

function countByBatch(rows: readonly QueueRow[], each: number): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { batch_id: id } of rows) counts.set(id, (counts.get(id) ?? 0) + each)
  return counts
}

/** Locks first: the statement after it sees every message that others have put back or taken. */
async function updateBatches(
  tx: Tx,
  ids: readonly number[],
  changes: ReadonlyMap<number, number>,
  served: boolean,
): Promise<Map<number, BatchRow>> {
  const batches = await lockBatches(tx, ids)
  const list = valueTable(
    tx,
    { changed_id: 'bigint', messages: 'bigint' },
    ids.map((id) => ({ changed_id: id, messages: changes.get(id) ?? 0 })),
  )
  await tx.run(
    `UPDATE sms_batch SET waiting = waiting + t.messages, served_at = ${served ? tx.now : 'served_at'},
       next_at = (SELECT MIN(q.due_at) FROM sms_queue q WHERE q.batch_id = sms_batch.id)
     FROM ${list.sql} AS t WHERE sms_batch.id = t.changed_id`,
    list.values,
  )
  return new Map(batches.map((batch) => [batch.id, batch]))
}
