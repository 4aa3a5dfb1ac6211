// The service's log: JSON lines on stdout. Each log call chooses its fields; redaction is an additional safeguard.
import { type Logger, pino } from 'pino'
import { Counter, type Registry } from 'prom-client'
import type { Endpoint } from '../../contract/endpoint.ts'
import type { CompletedCall } from '../http/endpoint.ts'

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

export interface Log {
  readonly log: Logger
  /** For the lines of API calls. It does not redact: their fields are numbers and names of ours, and redaction is slow. */
  readonly callLog: Logger
  /** How many lines were dropped, because stdout was not read. */
  readonly dropped: () => number
  /** Writes what is still buffered. Waits at most a second for a reader that does not read, and returns whether it read. */
  end(): Promise<boolean>
}

const maxEndMs = 1_000

export interface LogOptions {
  /** Other processes write to the same stdout. */
  readonly shared?: boolean
  /** If stdout is not read, lines beyond this are dropped instead of filling the memory. */
  readonly maxBytes?: number
}

const defaultMaxBytes = 16_777_216

/** A pipe takes this many bytes atomically, so that lines of several processes do not mix (PIPE_BUF on Linux). */
const pipeBufferBytes = 4_096

/** Each write takes about as long as formatting ten lines. */
const fileBufferBytes = 16_000

export function openLog(level: string, { shared = false, maxBytes = defaultMaxBytes }: LogOptions = {}): Log {
  const destination = pino.destination({
    fd: 1,
    sync: false,
    minLength: shared ? pipeBufferBytes / 2 : fileBufferBytes,
    maxLength: maxBytes,
    ...(shared && { maxWrite: pipeBufferBytes }),
    retryEAGAIN: () => true,
  })
  // There is no other place to report that a line cannot be written.
  destination.on('error', () => undefined)
  let isEnded = false
  // A destination that was destroyed throws; calls may still end while the process exits.
  const lines = { write: (line: string) => void (isEnded || destination.write(line)) }
  const common = { level, base: null, timestamp: createTimestamp() }
  const log = pino(
    {
      ...common,
      redact: { paths: [...redacted, ...redacted.map((name) => `*["${name}"]`)], censor: '[redacted]' },
      serializers: { err: describeError },
    },
    lines,
  )
  let dropped = 0
  let reported = 0
  destination.on('drop', (text: string) => void (dropped += text.split('\n').length - 1))
  destination.on('drain', () => {
    if (dropped === reported) return
    reported = dropped
    log.warn({ dropped }, 'lines of the log were dropped, because stdout was not read')
  })
  // The destination buffers lines; a quiet service still writes them within a second.
  const flushing = setInterval(() => destination.flush(), 1_000).unref()
  return {
    log,
    callLog: pino(common, lines),
    dropped: () => dropped,
    async end() {
      clearInterval(flushing)
      isEnded = true
      // Not `flushSync`: it retries indefinitely if the reader has closed the pipe.
      const { promise: ended, resolve } = Promise.withResolvers<boolean>()
      const timer = setTimeout(resolve, maxEndMs, false)
      destination.once('close', () => resolve(true)).once('error', () => resolve(true))
      destination.end()
      const isWritten = await ended
      clearTimeout(timer)
      // Without this, the exit of the process would try to write again.
      destination.destroy()
      return isWritten
    },
  }
}

/** The text of `pino.stdTimeFunctions.isoTime`, which formats each line anew: that is 1.5 % of a paid call. */
export function createTimestamp(): () => string {
  let second = Number.NaN
  let text = ''
  return () => {
    const now = Date.now()
    const milliseconds = now % 1_000
    if (now - milliseconds !== second) {
      second = now - milliseconds
      text = new Date(second).toISOString().slice(0, -4)
    }
    return `,"time":"${text}${String(milliseconds).padStart(3, '0')}Z"`
  }
}

export function registerLogMetrics(registry: Registry, dropped: () => number): void {
  new Counter({
    name: 'tollgate_log_lines_dropped_total',
    help: 'Lines of the log that were dropped, because stdout was not read',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(dropped())
    },
  })
}

/** Logs each API call as one line. The fields that few calls differ in are written once, as those of a child logger. */
export function createCallLogger(log: Logger): (call: CompletedCall) => void {
  const loggers = new Map<Endpoint, Map<string | undefined, Logger>>()
  function loggerFor(endpoint: Endpoint, action: string | undefined): Logger {
    const known = loggers.get(endpoint)?.get(action)
    if (known) return known
    const created = log.child({ endpoint: endpoint.name, action })
    const others = loggers.get(endpoint) ?? []
    loggers.set(endpoint, new Map([...others, [action, created]]))
    return created
  }
  return ({ requestId, endpoint, call, response, durationMs }) => {
    const { code } = response.body as { code?: number }
    loggerFor(endpoint, call?.trace.action).info({
      requestId,
      account: call?.trace.accountId,
      status: response.status,
      code,
      ms: Math.round(durationMs * 100) / 100,
    })
  }
}

interface ErrorDescription {
  readonly type: string
  readonly code: string | undefined
  readonly message: string
  readonly stack: string | undefined
  readonly cause: ErrorDescription | undefined
}

/** The `detail` and `parameters` of a database error contain values, so only these fields are logged. */
function describeError(error: unknown): ErrorDescription {
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
