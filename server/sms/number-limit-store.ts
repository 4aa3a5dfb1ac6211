// Counters of messages per phone number and period, updated in the transaction of the charge.
import type { Database, Queries, Tx } from '../db/database.ts'
import { forUpdate, orderedUpdate, valueTable } from '../db/dialect.ts'
import { rowsPerSlice, writeInSlices } from '../db/slices.ts'
import type { Tables } from '../db/schema.ts'

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

/** How many messages to add to, or remove from, the counter of a number in a period. */
export interface CounterChange {
  readonly phone: string
  readonly period: Period
  readonly messages: number
}

const counterColumns = { number: 'text', period_key: 'text', messages: 'bigint', end_time: 'bigint' } as const

/** In the order in which every transaction locks counters. Each counter occurs once. */
function counterTable(queries: Queries, changes: readonly CounterChange[]) {
  const rows = changes.map(({ phone, period, messages }) => ({
    number: phone,
    period_key: period.key,
    messages,
    end_time: period.endsAt,
  }))
  return valueTable(queries, counterColumns, rows)
}

export type NumberCount = Pick<Tables['sms_number_count'], 'phone' | 'period' | 'count'>

/** Returns the new counts. */
export function addToCounters(tx: Tx, changes: readonly CounterChange[]): Promise<NumberCount[]> {
  const list = counterTable(tx, changes)
  return tx.all(
    `INSERT INTO sms_number_count (phone, period, count, ends_at)
     SELECT t.number, t.period_key, t.messages, t.end_time FROM ${list.sql} AS t WHERE true ORDER BY 1, 2
     ON CONFLICT (phone, period) DO UPDATE SET count = sms_number_count.count + excluded.count
     RETURNING phone, period, count`,
    list.values,
  )
}

export async function removeFromCounters(tx: Tx, changes: readonly CounterChange[]): Promise<void> {
  const key = { phone: 'number', period: 'period_key' }
  const update = orderedUpdate(tx, 'sms_number_count', key, counterTable(tx, changes))
  await tx.run(
    `${update.with} UPDATE sms_number_count SET count = CASE WHEN count > t.messages THEN count - t.messages ELSE 0 END
     FROM ${update.from} WHERE ${update.where}`,
    update.values,
  )
}

export async function findCount(queries: Queries, phone: string, period: Period): Promise<number> {
  const row = await queries.one<Pick<Tables['sms_number_count'], 'count'>>(
    'SELECT count FROM sms_number_count WHERE phone = ? AND period = ?',
    [phone, period.key],
  )
  return row?.count ?? 0
}

/** Of several numbers in the same periods. */
export function findCounts(
  queries: Queries,
  phones: readonly string[],
  periods: readonly Period[],
): Promise<NumberCount[]> {
  const list = valueTable(
    queries,
    { number: 'text', period_key: 'text' },
    phones.flatMap((number) => periods.map(({ key }) => ({ number, period_key: key }))),
  )
  return queries.all<NumberCount>(
    `SELECT c.phone, c.period, c.count FROM ${list.sql} AS t
     JOIN sms_number_count c ON c.phone = t.number AND c.period = t.period_key`,
    list.values,
  )
}

export function deletePastCounters(db: Database, signal?: AbortSignal): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const deleted = await tx.run(
        `DELETE FROM sms_number_count WHERE (phone, period) IN
           (SELECT phone, period FROM sms_number_count WHERE ends_at < ${tx.now} ORDER BY ends_at
            LIMIT ${rowsPerSlice}${forUpdate(tx, 'FOR UPDATE SKIP LOCKED')})`,
      )
      return deleted === rowsPerSlice
    },
    signal,
  )
}
