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

export interface Log {
  readonly log: Logger
  /** Writes what is left, and waits for a reader that does not read no longer than a second. */
  end(): void
}

/** Tries at the end, a tenth of a second apart. */
const lastTries = 10

export interface LogOptions {
  /** Others write to the same stdout. */
  readonly shared?: boolean
}

/** What a pipe takes in one piece, whoever else writes to it (POSIX promises 512, Linux has 4,096). */
const wholePiece = 4_096

/** Gathered lines are handed on at the latest when they are this long. */
const largestPiece = 65_536

export function openLog(level: string, { shared = false }: LogOptions = {}): Log {
  let ending = false
  let triesLeft = lastTries
  const destination = pino.destination({
    fd: 1,
    sync: false,
    // Texts would be measured twice and turned into bytes a third time.
    contentMode: 'buffer',
    minLength: shared ? wholePiece / 2 : wholePiece,
    // Nobody reading stdout must neither eat the memory nor keep the service from ending.
    maxLength: 16_777_216,
    ...(shared && { maxWrite: wholePiece }),
    retryEAGAIN: () => !ending || triesLeft-- > 0,
  })
  // What cannot be written at the very end is lost; there is nobody to tell.
  destination.on('error', () => undefined)
  const lines = lineGatherer(
    (text) => destination.write(Buffer.from(text) as unknown as string),
    shared ? wholePiece : largestPiece,
  )
  const log = pino(
    {
      level,
      base: null,
      timestamp: isoTime,
      redact: { paths: [...redacted, ...redacted.map((name) => `*["${name}"]`)], censor: '[redacted]' },
      serializers: { err: describeError },
    },
    lines,
  )
  // Lines wait in memory to be written together; a quiet service still shows them within a second.
  setInterval(() => destination.flush(), 1_000).unref()
  return {
    log,
    end() {
      ending = true
      lines.pass()
      try {
        destination.flushSync()
      } catch {
        // The reader is gone or asleep; without this, the exit itself would try again.
        destination.destroy()
      }
    },
  }
}

/**
 * Hands on in one piece what was logged in one turn of the event loop: measuring and keeping each line by itself costs the
 * destination more than making it costs us.
 */
function lineGatherer(write: (text: string) => void, largest: number) {
  let gathered = ''
  let scheduled = false
  function pass(): void {
    scheduled = false
    if (gathered === '') return
    const text = gathered
    gathered = ''
    write(text)
  }
  return {
    pass,
    write(line: string): void {
      if (gathered.length + line.length > largest) pass()
      gathered += line
      if (scheduled) return
      scheduled = true
      setImmediate(pass)
    },
  }
}

let lastTime = 0
let lastText = ''

/** Many lines are written in one millisecond; its text is made once. */
export function isoTime(): string {
  const now = Date.now()
  if (now !== lastTime) {
    lastTime = now
    lastText = `,"time":"${new Date(now).toISOString()}"`
  }
  return lastText
}

interface ErrorDescription {
  readonly type: string
  readonly code: string | undefined
  readonly message: string
  readonly stack: string | undefined
  readonly cause: ErrorDescription | undefined
}

/** A database error's `detail` and `parameters` hold values, so an error is described by these fields only. */
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
