// The error of the console API: a code, a message in both languages, and messages by field.
import { type ConsoleErrorCode, errorStatus, type ErrorBody } from '../../contract/console/route.ts'
import type { Language, Text } from '../../contract/text.ts'
import { AppError } from '../http/errors.ts'

export type FieldProblems = Readonly<Record<string, Text>>

export class ConsoleProblem extends Error {
  readonly code: ConsoleErrorCode
  readonly text: Text
  readonly fields: FieldProblems | undefined
  readonly retryAfter: number | undefined

  constructor(
    code: ConsoleErrorCode,
    text: Text,
    options: { fields?: FieldProblems; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(text.en, { cause: options.cause })
    this.name = 'ConsoleProblem'
    this.code = code
    this.text = text
    this.fields = options.fields
    this.retryAfter = options.retryAfter
  }

  get status(): number {
    return errorStatus[this.code]
  }

  body(language: Language, requestId: string): ErrorBody {
    return {
      error: {
        code: this.code,
        message: this.text[language],
        ...(this.fields && {
          fields: Object.fromEntries(
            Object.entries(this.fields).map(([name, problem]) => [name, problem[language]]),
          ),
        }),
        request_id: requestId,
        ...(this.retryAfter !== undefined && { retry_after: this.retryAfter }),
      },
    }
  }
}

export function invalidFields(fields: FieldProblems): ConsoleProblem {
  return new ConsoleProblem('invalid', { zh: '请检查标出的内容', en: 'Check the marked fields' }, { fields })
}

export function notFound(): ConsoleProblem {
  return new ConsoleProblem('not_found', { zh: '未找到', en: 'Not found' })
}

export function conflict(zh: string, en: string): ConsoleProblem {
  return new ConsoleProblem('conflict', { zh, en })
}

export function wrongCredentials(): ConsoleProblem {
  return new ConsoleProblem('wrong_credentials', {
    zh: '用户名或密码错误',
    en: 'Wrong user name or password',
  })
}

export function suspended(): ConsoleProblem {
  return new ConsoleProblem('suspended', { zh: '账户已停用', en: 'The account is suspended' })
}

export function tooMany(retryAfter: number): ConsoleProblem {
  return new ConsoleProblem(
    'too_many',
    {
      zh: `尝试过于频繁，请 ${retryAfter} 秒后再试`,
      en: `Too many attempts. Try again in ${retryAfter} seconds.`,
    },
    { retryAfter },
  )
}

export function tooManyRequests(retryAfter: number): ConsoleProblem {
  const text = { zh: '请求过于频繁，请稍后再试', en: 'Too many requests, try again shortly' }
  return new ConsoleProblem('too_many', text, { retryAfter })
}

/** Converts any error. An unexpected one becomes an internal error without details. */
export function toProblem(error: unknown): ConsoleProblem {
  if (error instanceof ConsoleProblem) return error
  if (error instanceof AppError) return ofAppError(error)
  if (error instanceof Error && error.name === 'DatabaseUnavailable') {
    return new ConsoleProblem(
      'unavailable',
      {
        zh: '数据库暂时不可用，请稍后再试',
        en: 'The database is not available right now, try again shortly',
      },
      { cause: error },
    )
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status === 413) {
    return new ConsoleProblem(
      'too_large',
      { zh: '内容过大', en: 'The content is too large' },
      { cause: error },
    )
  }
  if (status === 415) return notJson()
  if (status >= 400 && status < 500) {
    return new ConsoleProblem(
      'invalid',
      { zh: '请求格式有误', en: 'The request is malformed' },
      { cause: error },
    )
  }
  return new ConsoleProblem('internal', { zh: '系统内部错误', en: 'Internal system error' }, { cause: error })
}

export function notJson(): ConsoleProblem {
  return new ConsoleProblem('not_json', { zh: '请使用 JSON 格式发送', en: 'Send JSON' })
}

/** Rules shared with the public API throw its codes. */
function ofAppError(error: AppError): ConsoleProblem {
  return new ConsoleProblem(codeOf(error), error.text, {
    cause: error,
    ...(error.fields && { fields: error.fields }),
    ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
  })
}

/** 1004 means too few credits here: expired accounts are rejected earlier. */
export function codeOf({ code, status }: { code: number; status: number }): ConsoleErrorCode {
  // The Idempotency-Key was used with other parameters, or its first call is still running.
  if (status === 409 || status === 422) return 'conflict'
  switch (code) {
    case 429:
      return 'too_many'
    case 1003:
      return 'unauthenticated'
    case 1004:
      return 'insufficient'
    case 1005:
      return 'upstream'
    case 1006:
      return 'forbidden'
    case 1007:
      return 'not_found'
    case 5000:
      return status === 503 ? 'unavailable' : 'internal'
    default:
      return 'invalid'
  }
}
