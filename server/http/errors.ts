// The error that callers see: a documented code and a message in both languages. Its cause is only logged.
import { statusOfCode, type ErrorCode } from '../../contract/codes.ts'
import type { Text } from '../../contract/text.ts'

interface AppErrorOptions {
  /** Defaults to the status of the code. */
  readonly status?: number
  /** Seconds until a retry can succeed. */
  readonly retryAfter?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Problems by parameter, so that the console can show them beside its fields. The message names them as well. */
  readonly fields?: Readonly<Record<string, Text>>
  readonly cause?: unknown
}

export class AppError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly text: Text
  readonly retryAfter: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, Text>> | undefined

  constructor(code: ErrorCode, text: Text, options: AppErrorOptions = {}) {
    super(text.en, { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.status = options.status ?? statusOfCode[code]
    this.text = text
    this.retryAfter = options.retryAfter
    this.headers = options.headers ?? {}
    this.fields = options.fields
  }
}

/** A value that breaks a rule; the text names what is wrong with it. */
export function invalidField(field: string, text: Text): AppError {
  return new AppError(1002, text, { fields: { [field]: text } })
}

/** Values that break rules. The message has the names of the fields; the text beside a field does not repeat its name. */
export function invalidInput(fields: Readonly<Record<string, Text>>): AppError {
  const problems = Object.entries(fields)
  const text = {
    zh: problems.map(([name, { zh }]) => `${name} ${zh}`).join('；'),
    en: problems.map(([name, { en }]) => `${name} ${en}`).join('; '),
  }
  return new AppError(1002, text, { fields })
}

/** Throws one error that names every problem, by field. */
export function requireNoProblems(problems: Readonly<Record<string, Text | undefined>>): void {
  const fields = Object.fromEntries(
    Object.entries(problems).flatMap(([name, problem]) => (problem ? [[name, problem]] : [])),
  )
  const texts = Object.values(fields)
  if (texts.length === 0) return
  const text = { zh: texts.map(({ zh }) => zh).join('；'), en: texts.map(({ en }) => en).join('; ') }
  throw new AppError(1002, text, { fields })
}

/** A request that cannot be read: malformed, too deep, in an unknown encoding. */
export function malformed(zh: string, en: string, cause?: unknown): AppError {
  return new AppError(1002, { zh, en }, { status: 400, cause })
}

export function tooFrequent(retryAfter: number): AppError {
  const text = {
    zh: `请求过于频繁，请 ${retryAfter} 秒后重试`,
    en: `Too many requests, try again in ${retryAfter} s`,
  }
  return new AppError(429, text, { retryAfter })
}
