// Limits of messages per phone number, by calendar minute, hour and day in Shanghai, shared by all processes.
import { dayMs, hourMs, minuteMs, shanghaiOffsetMs } from '../../contract/time.ts'
import type { Config } from '../config.ts'
import type { Queries, Tx } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import {
  addToCounters,
  type CounterChange,
  findCount,
  findCounts,
  type NumberCount,
  type Period,
  readClock,
  removeFromCounters,
} from './number-limit-store.ts'

type NumberLimits = Config['SMS_NUMBER_LIMITS']

const lengths = { m: minuteMs, h: hourMs, d: dayMs } as const

/** The current periods, shortest first. */
export function currentPeriods(limits: NumberLimits, now: number): readonly Period[] {
  return limits
    .map(({ count, window }): Period & { lengthMs: number } => {
      const lengthMs = lengths[window]
      const number = Math.floor((now + shanghaiOffsetMs) / lengthMs)
      return {
        key: `${window}${number}`,
        endsAt: (number + 1) * lengthMs - shanghaiOffsetMs,
        limit: count,
        lengthMs,
      }
    })
    .toSorted((one, other) => one.lengthMs - other.lengthMs || one.limit - other.limit)
    .filter((period, index, all) => all.findIndex(({ key }) => key === period.key) === index)
}

/** A check before the charge that saves most rejected calls a transaction. `countMessages` decides. */
export async function requireBelowLimits(
  queries: Queries,
  limits: NumberLimits,
  phone: string,
): Promise<void> {
  if (limits.length === 0) return
  const now = await readClock(queries)
  const full: Period[] = []
  for (const period of currentPeriods(limits, now)) {
    if ((await findCount(queries, phone, period)) >= period.limit) full.push(period)
  }
  if (full.length > 0) throw tooManyMessages(full, now)
}

/** Counts the messages in every period, or throws and so rolls the transaction back. */
export async function countMessages(
  tx: Tx,
  limits: NumberLimits,
  phones: readonly string[],
): Promise<readonly Period[]> {
  if (limits.length === 0) return []
  const now = await readClock(tx)
  const periods = currentPeriods(limits, now)
  const counts = await addToCounters(
    tx,
    sumChanges(phones.flatMap((phone) => periods.map((period) => ({ phone, period, messages: 1 })))),
  )
  const full = periods.filter(({ key, limit }) =>
    counts.some((row) => row.period === key && row.count > limit),
  )
  if (full.length > 0) throw tooManyMessages(full, now)
  return periods
}

/**
 * Counts messages to different numbers in the periods of a planned time. Returns an error for each number that is above a
 * limit; with any of them the caller rolls the transaction back.
 */
export async function countPlanned(
  tx: Tx,
  limits: NumberLimits,
  phones: readonly string[],
  at: number,
): Promise<Map<string, AppError>> {
  if (limits.length === 0 || phones.length === 0) return new Map()
  const periods = currentPeriods(limits, at)
  const counts = await addToCounters(
    tx,
    phones.flatMap((phone) => periods.map((period) => ({ phone, period, messages: 1 }))),
  )
  return findFull(counts, periods, at, 0)
}

/** Those of the numbers that can get no message at this time, with the error for each. */
export async function findFullNumbers(
  queries: Queries,
  limits: NumberLimits,
  phones: readonly string[],
  at: number,
): Promise<Map<string, AppError>> {
  if (limits.length === 0 || phones.length === 0) return new Map()
  const periods = currentPeriods(limits, at)
  return findFull(await findCounts(queries, phones, periods), periods, at, 1)
}

function findFull(
  counts: readonly NumberCount[],
  periods: readonly Period[],
  at: number,
  more: number,
): Map<string, AppError> {
  const full = new Map<string, Period[]>()
  for (const { phone, period: key, count } of counts) {
    const period = periods.find((one) => one.key === key)
    if (period && count + more > period.limit) full.set(phone, [...(full.get(phone) ?? []), period])
  }
  return new Map(Array.from(full, ([phone, list]) => [phone, tooManyMessages(list, at)]))
}

/** Messages that were provably not sent do not count. */
export async function uncountMessages(
  tx: Tx,
  messages: readonly { readonly phone: string; readonly periods: readonly Period[] }[],
): Promise<void> {
  const changes = messages.flatMap(({ phone, periods }) =>
    periods.map((period) => ({ phone, period, messages: 1 })),
  )
  if (changes.length > 0) await removeFromCounters(tx, sumChanges(changes))
}

/** Each counter once. */
function sumChanges(changes: readonly CounterChange[]): CounterChange[] {
  return [...Map.groupBy(changes, ({ phone, period }) => `${phone} ${period.key}`).values()].map((same) => ({
    ...same[0]!,
    messages: same.reduce((sum, { messages }) => sum + messages, 0),
  }))
}

function tooManyMessages(full: readonly Period[], now: number): AppError {
  const wait = Math.max(1, Math.ceil((Math.max(...full.map(({ endsAt }) => endsAt)) - now) / 1000))
  return new AppError(
    1002,
    {
      zh: `phone_number 发送过于频繁，请 ${wait} 秒后再试`,
      en: `phone_number has had too many messages, try again in ${wait} s`,
    },
    { retryAfter: wait },
  )
}
