// Deletes old rows of a table whose rows are numbered in the order of time, a few at a time.
import { dayMs } from '../../contract/time.ts'
import type { Database } from './database.ts'
import { firstIdFrom, type Timed } from './id-at-time.ts'

const perRound = 1_000
/** Small transactions, so that calls go on between them. Tells how many rows there were. */
export async function deleteOlderThan(
  db: Database,
  { table, time }: Timed,
  days: number,
  signal: AbortSignal,
): Promise<number> {
  const border = await firstIdFrom(db, { table, time }, Date.now() - days * dayMs)
  let deleted = 0
  while (!signal.aborted) {
    // Found by number, decided by the database's clock.
    const round = await db.write((tx) =>
      tx.run(
        `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE id < ?
           AND ${time} < ${tx.now} - CAST(? AS bigint) ORDER BY id LIMIT ${perRound})`,
        [border, days * dayMs],
      ),
    )
    deleted += round
    if (round < perRound) break
  }
  return deleted
}
