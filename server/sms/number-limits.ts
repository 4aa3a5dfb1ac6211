// Limits of messages per phone number, by calendar minute, hour and day in Shanghai, shared by all processes.
import { dayMs, hourMs, shanghaiOffsetMs } from '../../contract/time.ts'
import type { Config } from '../config.ts'
import type { Queries, Tx } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import {
  decrementCounter,
  findCount,
  incrementCounter,
  type Period,
  readClock,
} from './number-limit-store.ts'

type NumberLimits = Config['SMS_NUMBER_LIMITS']

const lengths = { m: 60_000, h: hourMs, d: dayMs } as const

/** The current periods, shortest first: all processes lock the counters in this order. */
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

/** A check before the charge that saves most rejected calls a transaction. `countMessage` decides. */
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

/** Counts the message in every period, or throws and so rolls the transaction back. */
export async function countMessage(tx: Tx, limits: NumberLimits, phone: string): Promise<readonly Period[]> {
  if (limits.length === 0) return []
  const now = await readClock(tx)
  const periods = currentPeriods(limits, now)
  const full: Period[] = []
  for (const period of periods)
    if ((await incrementCounter(tx, phone, period)) > period.limit) full.push(period)
  if (full.length > 0) throw tooManyMessages(full, now)
  return periods
}

/** A message that was provably not sent does not count. */
export async function uncountMessage(tx: Tx, phone: string, periods: readonly Period[]): Promise<void> {
  for (const period of periods) await decrementCounter(tx, phone, period)
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
