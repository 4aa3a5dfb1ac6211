// Limits of single numbers: one counter per number and period, counted up in the transaction of the charge.
import type { Queries, Tx } from '../db/database.ts'

/** A calendar minute, hour or day in Shanghai, and how many messages it takes. */
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

/** How often the number was sent to in the period, this time included. */
export async function countUp(tx: Tx, phone: string, period: Period): Promise<number> {
  const row = await tx.one<{ count: number }>(
    `INSERT INTO sms_number_count (phone, period, count, ends_at) VALUES (?, ?, 1, ?)
     ON CONFLICT (phone, period) DO UPDATE SET count = sms_number_count.count + 1 RETURNING count`,
    [phone, period.key, period.endsAt],
  )
  return row?.count ?? 1
}

/** A message that provably was not sent does not count. */
export async function countDown(tx: Tx, phone: string, period: Period): Promise<void> {
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

/** Periods that are over, a few thousand at a time. */
export function forgetPast(tx: Tx): Promise<number> {
  return tx.run(
    `DELETE FROM sms_number_count WHERE (phone, period) IN
       (SELECT phone, period FROM sms_number_count WHERE ends_at < ${tx.now} LIMIT 5000)`,
  )
}
