// Schemas of fields that several console routes share.
import { type Static, Type } from 'typebox'
import { type ApiType, apiTypes, maxGrant } from '../credits.ts'
import type { Text } from '../text.ts'
import { dayPattern } from '../time.ts'
import { maxNoteLength } from './limits.ts'

export const dayProblem: Text = { zh: '必须是 YYYY-MM-DD 格式的日期', en: 'Must be a date YYYY-MM-DD' }

/** `YYYY-MM-DD` in Asia/Shanghai. */
export const day = Type.String({ pattern: dayPattern, problem: dayProblem })

/** A day, or null for no end. */
export const optionalDay = Type.Optional(Type.Union([day, Type.Null()]))

export const apiType = Type.Enum([...apiTypes] as [ApiType, ...ApiType[]])

export const amount = Type.Integer({ minimum: 1, maximum: maxGrant })

export const positiveId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** A password as typed; the rules for a new one are in `server/accounts`. */
export const password = Type.String({ minLength: 1, maxLength: 1_000 })

export const username = Type.String({ minLength: 1, maxLength: 200 })

export const optionalText = Type.Optional(Type.String({ maxLength: 200 }))

export const order = Type.Optional(Type.Enum(['asc', 'desc']))

export const noteProblem = {
  zh: `请写明原因，最多 ${maxNoteLength} 个字符`,
  en: `Say why, in at most ${maxNoteLength} characters`,
} as const

/** Every change by an operator says why; the note is written to the audit log. */
export const note = Type.String({
  minLength: 1,
  maxLength: maxNoteLength,
  pattern: '\\S',
  problem: noteProblem,
})

const size = Type.Optional(Type.Integer({ minimum: 1, maximum: 200 }))

/** `before` is the `next` of the previous page; `size` is 50 by default. */
export const slice = { before: Type.Optional(positiveId), size }

/** Fields of `PageQuery`: pages start at 1; `size` is 20 by default. */
export const page = { page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })), size }

export const dayRange = { from: Type.Optional(day), to: Type.Optional(day) }

export const Empty = Type.Object({})
export type Empty = Readonly<Record<never, never>>

export const PageQuery = Type.Object(page)
export type PageQuery = Static<typeof PageQuery>

export const DayRange = Type.Object(dayRange)
export type DayRange = Static<typeof DayRange>

export const Noted = Type.Object({ note })
export type Noted = Static<typeof Noted>
