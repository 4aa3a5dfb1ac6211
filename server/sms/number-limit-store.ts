// Counters of messages per phone number and period, updated in the transaction of the charge.
import type { Queries, Tx } from '../db/database.ts'

/** A calendar minute, hour or day in Shanghai, and its limit. */
export interface Period {
  /** `m`, `h` or `d` and the number of the period. */
  readonly key: string
  readonly endsAt: number
  readonly limit: number
}

export async function readClock(queries: Queries): Promise<number> {
  const row = await queries.one<{ now: number }>(`SELECT ${queries.now} AS now`)
  return row?.now ?? Date.now()
}

/** Returns the new count. */
export async function incrementCounter(tx: Tx, phone: string, period: Period): Promise<number> {
  const row = await tx.one<{ count: number }>(
    `INSERT INTO sms_number_count (phone, period, count, ends_at) VALUES (?, ?, 1, ?)
     ON CONFLICT (phone, period) DO UPDATE SET count = sms_number_count.count + 1 RETURNING count`,
    [phone, period.key, period.endsAt],
  )
  return row?.count ?? 1
}

export async function decrementCounter(tx: Tx, phone: string, period: Period): Promise<void> {
  await tx.run('UPDATE sms_number_count SET count = count - 1 WHERE phone = ? AND period = ? AND count > 0', [
    phone,
    period.key,
  ])
}

export async function findCount(queries: Queries, phone: string, period: Period): Promise<number> {
  const row = await queries.one<{ count: number }>(
    'SELECT count FROM sms_number_count WHERE phone = ? AND period = ?',
    [phone, period.key],
  )
  return row?.count ?? 0
}

/** At most 5,000 at a time. */
export function deletePastCounters(tx: Tx): Promise<number> {
  return tx.run(
    `DELETE FROM sms_number_count WHERE (phone, period) IN
       (SELECT phone, period FROM sms_number_count WHERE ends_at < ${tx.now} LIMIT 5000)`,
  )
}
