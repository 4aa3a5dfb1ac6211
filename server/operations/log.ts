// JSON lines on stdout. What is logged is chosen field by field; redaction is the second line of defence.
import { type Logger, pino } from 'pino'

const redacted = [
  'api_key',
  'api-key',
  'apiKey',
  'key',
  'password',
  'authorization',
  'cookie',
  'name',
  'idcard',
  'phone_number',
  'template_params',
  'secret',
]

export function openLog(level: string): Logger {
  const destination = pino.destination({ fd: 1, sync: false, minLength: 4_096 })
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: [...redacted, ...redacted.map((name) => `*["${name}"]`)], censor: '[redacted]' },
      serializers: { err: describeError },
    },
    destination,
  )
  // Lines wait in memory to be written together; a quiet service still shows them within a second.
  setInterval(() => destination.flush(), 1_000).unref()
  return log
}

interface ErrorDescription {
  readonly type: string
  readonly code: string | undefined
  readonly message: string
  readonly stack: string | undefined
  readonly cause: ErrorDescription | undefined
}

/** A database error's `detail` and `parameters` hold values, so an error is described by these fields only. */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) {
    return {
      type: typeof error,
      code: undefined,
      message: 'not an error',
      stack: undefined,
      cause: undefined,
    }
  }
  return {
    type: error.name,
    code: 'code' in error ? String(error.code) : undefined,
    message: error.message,
    stack: error.stack,
    cause: error.cause === undefined ? undefined : describeError(error.cause),
  }
}
