// Where a moment stands in a table whose rows are numbered in the order of time.
import type { Queries } from './database.ts'

/** Names of ours, never of a caller's. */
export interface Timed {
  readonly table: 'ledger' | 'identity_record' | 'link' | 'sms_send' | 'audit'
  readonly time: 'at' | 'created_at'
}

/**
 * The first id from a moment on, by bisection over the primary key: it finds a day long past without an index on the time.
 * A clock that was set back only moves the border by as much.
 */
export async function firstIdFrom(queries: Queries, { table, time }: Timed, moment: number): Promise<number> {
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
