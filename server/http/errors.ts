// The one error that travels to a caller: a documented code, a public text in both languages, and a cause that stays with us.
import { statusOfCode, type ErrorCode } from '../../contract/codes.ts'
import type { Text } from '../../contract/text.ts'

interface AppErrorOptions {
  /** HTTP status; the code's own status when left out. */
  readonly status?: number
  /** Seconds after which it makes sense to come again. */
  readonly retryAfter?: number
  /** Further headers of the answer, `Allow` for instance. */
  readonly headers?: Readonly<Record<string, string>>
  /** What is wrong with which parameter, for whoever can show it beside its field. The text says all of it too. */
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

/** A body that cannot be read at all: malformed, too deep, in an unknown encoding. */
export function malformed(zh: string, en: string, cause?: unknown): AppError {
  return new AppError(1002, { zh, en }, { status: 400, cause })
}
