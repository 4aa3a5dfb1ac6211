// Batches: inserted with their messages, counted down with the end of each message, finished with the last one.
import type { Database, Queries, Tx } from '../../db/database.ts'
import { forUpdate, idList, orderedUpdate, valueTable } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { deleteOlderThan } from '../../db/time-ordered.ts'

export type BatchRow = Tables['sms_batch']

export type NewSmsBatch = Pick<
  BatchRow,
  'account_id' | 'template_code' | 'content' | 'sign_name' | 'marketing' | 'send_at' | 'total' | 'created_at'
> & { readonly next_at: number }

/** All messages wait. */
export function insertBatch(tx: Tx, batch: NewSmsBatch): Promise<number> {
  return tx.insert(
    `INSERT INTO sms_batch (account_id, template_code, content, sign_name, marketing, send_at, total, pending, waiting,
       next_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      batch.account_id,
      batch.template_code,
      batch.content,
      batch.sign_name,
      batch.marketing,
      batch.send_at,
      batch.total,
      batch.total,
      batch.total,
      batch.next_at,
      batch.created_at,
    ],
  )
}

export function findBatch(queries: Queries, accountId: number, id: number): Promise<BatchRow | undefined> {
  return queries.one<BatchRow>('SELECT * FROM sms_batch WHERE id = ? AND account_id = ?', [id, accountId])
}

/** Messages of an account in the queue. */
export async function countWaiting(queries: Queries, accountId: number): Promise<number> {
  const row = await queries.one<{ waiting: number | null }>(
    'SELECT CAST(SUM(waiting) AS bigint) AS waiting FROM sms_batch WHERE account_id = ? AND finished_at IS NULL',
    [accountId],
  )
  return row?.waiting ?? 0
}

/** Of all accounts: messages in the queue, and for how long the oldest due one has been due. */
export async function measureQueue(queries: Queries): Promise<{ messages: number; oldestMs: number }> {
  const row = await queries.one<{ waiting: number | null; oldest: number | null }>(
    `SELECT CAST(SUM(waiting) AS bigint) AS waiting, ${queries.now} - MIN(CASE WHEN marketing = 0 THEN next_at END) AS oldest
     FROM sms_batch WHERE next_at IS NOT NULL`,
  )
  return { messages: row?.waiting ?? 0, oldestMs: Math.max(0, row?.oldest ?? 0) }
}

/** Newest first. */
export function findBatches(
  queries: Queries,
  accountId: number,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<BatchRow[]> {
  return before === undefined
    ? queries.all<BatchRow>(`SELECT * FROM sms_batch WHERE account_id = ? ORDER BY id DESC LIMIT ${limit}`, [
        accountId,
      ])
    : queries.all<BatchRow>(
        `SELECT * FROM sms_batch WHERE account_id = ? AND id < ? ORDER BY id DESC LIMIT ${limit}`,
        [accountId, before],
      )
}

export interface BatchCounts {
  readonly started: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
  readonly pending: number
  readonly credits_used: number
}

const isPending = `s.state IN ('sending', 'unknown') AND s.charged = 1`
const isCancelled = `s.problem = 'cancelled'`
const hasSucceeded = `s.state IN ('accepted', 'delivered')`

const noMessages = { started: 0, succeeded: 0, failed: 0, cancelled: 0, pending: 0, credits_used: 0 }

type CountedBatch = Pick<BatchRow, 'id' | 'credits_used'>

export async function countMessagesOf(queries: Queries, batch: CountedBatch): Promise<BatchCounts> {
  return (await countMessages(queries, [batch])).get(batch.id)!
}

/** Of every given batch, which has at most a thousand messages. After compaction only the batch knows what they cost. */
export async function countMessages(
  queries: Queries,
  batches: readonly CountedBatch[],
): Promise<Map<number, BatchCounts>> {
  if (batches.length === 0) return new Map()
  const list = idList(
    queries,
    batches.map(({ id }) => id),
  )
  const rows = await queries.all<BatchCounts & { readonly batch_id: number }>(
    `SELECT s.batch_id, COUNT(s.sent_at) AS started,
       COALESCE(SUM(CASE WHEN ${hasSucceeded} THEN 1 ELSE 0 END), 0) AS succeeded,
       COALESCE(SUM(CASE WHEN ${isCancelled} OR ${hasSucceeded} OR (${isPending}) THEN 0 ELSE 1 END), 0) AS failed,
       COALESCE(SUM(CASE WHEN ${isCancelled} THEN 1 ELSE 0 END), 0) AS cancelled,
       COALESCE(SUM(CASE WHEN ${isPending} THEN 1 ELSE 0 END), 0) AS pending,
       CAST(COALESCE(SUM(o.cost - o.given_back), 0) AS bigint) AS credits_used
     FROM sms_send s LEFT JOIN operation o ON o.id = s.operation_id WHERE s.batch_id IN ${list.sql}
     GROUP BY s.batch_id`,
    [list.value],
  )
  const counted = new Map(rows.map(({ batch_id: id, ...counts }) => [id, counts]))
  return new Map(
    batches.map(({ id, credits_used: stored }) => {
      const counts = counted.get(id) ?? noMessages
      return [id, { ...counts, credits_used: stored ?? counts.credits_used }]
    }),
  )
}

/** Call this with the end of the last message, while its operations exist. */
export async function storeCreditsUsed(tx: Tx, id: number, credits: number): Promise<void> {
  await tx.run('UPDATE sms_batch SET credits_used = ? WHERE id = ?', [credits, id])
}

/**
 * Subtracts the messages whose operations this transaction ended. Returns the batches that are finished by it: the lock on
 * a batch lets the last of several transactions see that nothing is pending any more.
 */
export async function subtractPending(
  tx: Tx,
  ended: ReadonlyMap<number, number>,
): Promise<Pick<BatchRow, 'id' | 'account_id' | 'template_code' | 'total'>[]> {
  const list = valueTable(
    tx,
    { ended_id: 'bigint', messages: 'bigint' },
    Array.from(ended, ([id, messages]) => ({ ended_id: id, messages })),
  )
  const update = orderedUpdate(tx, 'sms_batch', { id: 'ended_id' }, list)
  const rows = await tx.all<Pick<BatchRow, 'id' | 'account_id' | 'template_code' | 'total' | 'pending'>>(
    `${update.with} UPDATE sms_batch SET pending = pending - t.messages,
       finished_at = CASE WHEN pending = t.messages THEN ${tx.now} END
     FROM ${update.from} WHERE ${update.where}
     RETURNING sms_batch.id, sms_batch.account_id, sms_batch.template_code, sms_batch.total, sms_batch.pending`,
    update.values,
  )
  return rows.filter(({ pending }) => pending === 0)
}

/** Batches that should have finished by now, for example because an older version ended their last messages. */
export function findStale(queries: Queries, limit: number): Promise<Pick<BatchRow, 'id'>[]> {
  return queries.all(
    `SELECT b.id FROM sms_batch b WHERE b.finished_at IS NULL AND b.created_at < ${queries.now} - 60000
       AND (b.next_at IS NULL OR b.next_at < ${queries.now} - 60000)
       AND (b.pending <> (SELECT COUNT(*) FROM sms_send s WHERE s.batch_id = b.id AND ${isPending})
         OR b.waiting <> (SELECT COUNT(*) FROM sms_queue q WHERE q.batch_id = b.id)) LIMIT ${limit}`,
  )
}

/** Counts again what waits and what is pending. */
export async function recount(tx: Tx, id: number): Promise<void> {
  await lockBatches(tx, [id])
  await tx.run(
    `UPDATE sms_batch SET waiting = (SELECT COUNT(*) FROM sms_queue q WHERE q.batch_id = sms_batch.id),
       next_at = (SELECT MIN(q.due_at) FROM sms_queue q WHERE q.batch_id = sms_batch.id),
       pending = (SELECT COUNT(*) FROM sms_send s WHERE s.batch_id = sms_batch.id AND ${isPending}) WHERE id = ?`,
    [id],
  )
}

/** Locks batches in the order in which every transaction locks them, and returns them. */
export function lockBatches(tx: Tx, ids: readonly number[]): Promise<BatchRow[]> {
  const list = idList(tx, ids)
  return tx.all<BatchRow>(`SELECT * FROM sms_batch WHERE id IN ${list.sql} ORDER BY id${forUpdate(tx)}`, [
    list.value,
  ])
}

/** Before their messages, so that no batch is shown without them. None of them waits that long. */
export function deleteOldBatches(db: Database, days: number, signal: AbortSignal): Promise<number> {
  return deleteOlderThan(db, { table: 'sms_batch', time: 'created_at' }, days, signal)
}

/**
 * After a restore: a message that was due when the backup was made may have been sent since. It leaves the queue, and its lease
 * ends now, so that the sweeper asks the provider and settles or refunds it. Nothing is sent twice.
 */
export async function decideDueAfterRestore(tx: Tx): Promise<void> {
  const due = `SELECT operation_id FROM sms_queue WHERE planned_at <= ${tx.now} OR tries > 0`
  await tx.run(`UPDATE operation SET lease_until = ${tx.now} WHERE state = 'held' AND id IN (${due})`)
  await tx.run(`UPDATE sms_send SET sent_at = ${tx.now} WHERE sent_at IS NULL AND operation_id IN (${due})`)
  await tx.run(`DELETE FROM sms_queue WHERE planned_at <= ${tx.now} OR tries > 0`)
  await tx.run(`UPDATE sms_batch SET waiting = (SELECT COUNT(*) FROM sms_queue q WHERE q.batch_id = sms_batch.id),
      next_at = (SELECT MIN(q.due_at) FROM sms_queue q WHERE q.batch_id = sms_batch.id)
    WHERE finished_at IS NULL`)
}
