// The fields that come up in more than one form of the console.
import { type Static, Type } from 'typebox'
import { type ApiType, apiTypes, largestGrant } from '../../contract/credits.ts'
import type { Text } from '../../contract/text.ts'
import { dayMs, endOfDay, formatDay, startOfDay } from '../../contract/time.ts'
import { invalidFields } from './problem.ts'

const dayWish: Text = { zh: '须为 YYYY-MM-DD 格式的日期', en: 'Must be a date YYYY-MM-DD' }

export const nothing = Type.Object({})

export const day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', wants: dayWish })

export const apiType = Type.Enum([...apiTypes] as [ApiType, ...ApiType[]])

export const amount = Type.Integer({ minimum: 1, maximum: largestGrant })

export const note = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '\\S',
  wants: { zh: '请写明原因，不超过 200 个字符', en: 'Say why, in at most 200 characters' },
})

/** A password as typed; its quality is judged where it is new. */
export const password = Type.String({ minLength: 1, maxLength: 1_000 })

export const slice = {
  before: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
}

export const page = {
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
}

export const dayRange = { from: Type.Optional(day), to: Type.Optional(day) }

const rangeSchema = Type.Object(dayRange)

export interface Range {
  readonly from: string
  readonly to: string
  /** The first millisecond of the range and the first one after it. */
  readonly start: number
  readonly end: number
  readonly days: readonly string[]
}

/** The days asked for; without them the last `usual` ones, today included. */
export function rangeOf(
  { from, to }: Static<typeof rangeSchema>,
  limits: { usual: number; most: number },
  now: number = Date.now(),
): Range {
  const last = to ?? formatDay(now)
  const end = endOfDay(last)
  if (end === undefined) throw invalidFields({ to: dayWish })
  const first = from ?? formatDay(end - limits.usual * dayMs)
  const start = startOfDay(first)
  if (start === undefined) throw invalidFields({ from: dayWish })
  if (start >= end) {
    throw invalidFields({ from: { zh: '开始日期晚于结束日期', en: 'The first day is after the last' } })
  }
  const count = Math.round((end - start) / dayMs)
  if (count > limits.most) {
    throw invalidFields({ from: { zh: `最多 ${limits.most} 天`, en: `At most ${limits.most} days` } })
  }
  const days = Array.from({ length: count }, (_one, index) => formatDay(start + index * dayMs))
  return { from: first, to: last, start, end, days }
}

/** The range as a filter: undefined where nothing was asked for. */
export function filterRange(given: Static<typeof rangeSchema>): {
  start: number | undefined
  end: number | undefined
} {
  const start = given.from === undefined ? undefined : startOfDay(given.from)
  const end = given.to === undefined ? undefined : endOfDay(given.to)
  if (given.from !== undefined && start === undefined) throw invalidFields({ from: dayWish })
  if (given.to !== undefined && end === undefined) throw invalidFields({ to: dayWish })
  return { start, end }
}

/** One line, without what could move a cursor or forge a line. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
}
