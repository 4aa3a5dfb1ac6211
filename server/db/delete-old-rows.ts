// Deletes old rows in small transactions, so that calls can write between them.
import { dayMs } from '../../contract/time.ts'
import type { Database } from './database.ts'
import { firstIdFrom, type Timed } from './id-at-time.ts'

const rowsPerTransaction = 1_000

/** For tables whose ids follow time and that have no index on the time. Returns the number of deleted rows. */
export async function deleteOlderThan(
  db: Database,
  { table, time }: Timed,
  days: number,
  signal: AbortSignal,
): Promise<number> {
  const firstId = await firstIdFrom(db, { table, time }, Date.now() - days * dayMs)
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
  while (!signal.aborted) {
    const count = await db.write((tx) =>
      tx.run(
        `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table}
           WHERE ${where} ${time} < ${tx.now} - CAST(? AS bigint) ORDER BY ${order} LIMIT ${rowsPerTransaction})`,
        [...values, days * dayMs],
      ),
    )
    deleted += count
    if (count < rowsPerTransaction) break
  }
  return deleted
}
