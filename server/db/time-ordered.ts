// Finds and deletes rows by their time.
import { dayMs } from '../../contract/time.ts'
import type { Database, Queries } from './database.ts'
import { rowsPerSlice, writeInSlices } from './slices.ts'

/** A table whose ids increase with time and that has no index on the time. */
export interface TimeOrderedTable {
  readonly table:
    | 'ledger'
    | 'identity_record'
    | 'link'
    | 'sms_send'
    | 'sms_batch'
    | 'sms_reply'
    | 'audit'
    | 'event'
    | 'event_delivery'
    | 'event_attempt'
    | 'sign_in'
    | 'mail_token'
    | 'payment_refusal'
  readonly time: 'at' | 'created_at' | 'received_at'
}

/**
 * The first id at or after a time, by bisection over the primary key. After the clock was set back, the result is off by at
 * most as much.
 */
export async function firstIdAtOrAfter(
  queries: Queries,
  { table, time }: TimeOrderedTable,
  moment: number,
): Promise<number> {
  const newest = await queries.one<{ id: number }>(`SELECT id FROM ${table} ORDER BY id DESC LIMIT 1`)
  let low = 0
  let high = (newest?.id ?? 0) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = await queries.one<{ id: number; at: number }>(
      `SELECT id, ${time} AS at FROM ${table} WHERE id >= ? ORDER BY id LIMIT 1`,
      [middle],
    )
    if (!row || row.at >= moment) high = middle
    else low = row.id + 1
  }
  return low
}

/** How far the ids of rows that were inserted concurrently can be out of the order of time. */
export const maxIdDisorder = 5_000

/** The ids that rows of a time can have. Some of them are of another time, so the statement has to compare the time as well. */
export async function idRange(
  queries: Queries,
  table: TimeOrderedTable,
  { start, end }: { readonly start?: number | undefined; readonly end?: number | undefined },
): Promise<{ readonly first: number; readonly end: number }> {
  const firstId = (moment: number) => firstIdAtOrAfter(queries, table, moment)
  return {
    first: start === undefined ? 0 : Math.max(0, (await firstId(start)) - maxIdDisorder),
    end: end === undefined ? Number.MAX_SAFE_INTEGER : (await firstId(end)) + maxIdDisorder,
  }
}

/** For tables whose ids follow time and that have no index on the time. Returns the number of deleted rows. */
export async function deleteOlderThan(
  db: Database,
  { table, time }: TimeOrderedTable,
  days: number,
  signal: AbortSignal,
): Promise<number> {
  const firstId = await firstIdAtOrAfter(db, { table, time }, Date.now() - days * dayMs)
  // The id limits the search; the database's clock decides.
  return deleteRows(db, { table, time, order: 'id', where: 'id < ? AND', values: [firstId] }, days, signal)
}

/** For tables with an index on `at`. Returns the number of deleted rows. */
export function deleteByTime(
  db: Database,
  table: 'identity_record' | 'domain_run',
  days: number,
  signal: AbortSignal,
): Promise<number> {
  return deleteRows(db, { table, time: 'at', order: 'at', where: '', values: [] }, days, signal)
}

async function deleteRows(
  db: Database,
  rows: { table: string; time: string; order: string; where: string; values: readonly number[] },
  days: number,
  signal: AbortSignal,
): Promise<number> {
  const { table, time, order, where, values } = rows
  let deleted = 0
  await writeInSlices(
    db,
    async (tx) => {
      const count = await tx.run(
        `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table}
           WHERE ${where} ${time} < ${tx.now} - CAST(? AS bigint) ORDER BY ${order} LIMIT ${rowsPerSlice})`,
        [...values, days * dayMs],
      )
      tx.afterCommit(() => (deleted += count))
      return count === rowsPerSlice
    },
    signal,
  )
  return deleted
}
