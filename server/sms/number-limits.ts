// How many messages one number may get: calendar minutes, hours and days of Shanghai, the same count for every process.
import { dayMs, hourMs, shanghaiOffsetMs } from '../../contract/time.ts'
import type { Config } from '../config.ts'
import type { Queries, Tx } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import { countDown, countUp, findCount, type Period, readClock } from './number-limit-store.ts'

type Limits = Config['SMS_NUMBER_LIMITS']

const lengths = { m: 60_000, h: hourMs, d: dayMs } as const

/** The periods a moment falls into, the shortest first: every process counts, and locks, in this one order. */
export function periodsAt(limits: Limits, now: number): readonly Period[] {
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

/** A look before the charge, so that most of those who must wait cost no transaction. The count itself decides. */
export async function requireRoom(queries: Queries, limits: Limits, phone: string): Promise<void> {
  if (limits.length === 0) return
  const now = await readClock(queries)
  const full: Period[] = []
  for (const period of periodsAt(limits, now)) {
    if ((await findCount(queries, phone, period)) >= period.limit) full.push(period)
  }
  if (full.length > 0) throw tooMany(full, now)
}

/** Counts the message in every period, or throws and leaves nothing counted: the transaction goes back as a whole. */
export async function takeRoom(tx: Tx, limits: Limits, phone: string): Promise<readonly Period[]> {
  if (limits.length === 0) return []
  const now = await readClock(tx)
  const periods = periodsAt(limits, now)
  const full: Period[] = []
  for (const period of periods) if ((await countUp(tx, phone, period)) > period.limit) full.push(period)
  if (full.length > 0) throw tooMany(full, now)
  return periods
}

export async function giveRoomBack(tx: Tx, phone: string, periods: readonly Period[]): Promise<void> {
  for (const period of periods) await countDown(tx, phone, period)
}

function tooMany(full: readonly Period[], now: number): AppError {
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
