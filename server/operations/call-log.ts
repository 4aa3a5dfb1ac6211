// Logs API calls, one line each, in the form of the other lines. The logger needs ten times as long for such a line, and its
// destination measures all it holds with every write: so the lines are formatted here and written together.
import { type Logger, pino } from 'pino'
import type { CompletedCall } from '../http/endpoint.ts'

/** Characters that are written together, so that lines of several processes in one pipe do not mix (half of PIPE_BUF). */
const maxGathered = 2_048

/** Every field is a number, a name of ours or a request id: nothing has to be escaped or redacted. */
export function createCallLog(log: Logger): (completed: CompletedCall) => void {
  if (!log.isLevelEnabled('info')) return () => undefined
  const start = `{"level":${log.levels.values['info']},"time":"`
  const destination = (log as unknown as Record<symbol, { write(lines: string): void }>)[
    pino.symbols.streamSym
  ]!
  const formatTime = createTimeFormat()
  let gathered = ''

  function flush(): void {
    if (gathered !== '') destination.write(gathered)
    gathered = ''
  }

  return ({ requestId, endpoint, call, response, durationMs }) => {
    const { code } = response.body as { code?: unknown }
    const trace = call?.trace
    let line = `${start}${formatTime()}","requestId":"${requestId}","endpoint":"${endpoint.name}"`
    if (trace?.action !== undefined) line += `,"action":"${trace.action}"`
    if (trace?.accountId !== undefined) line += `,"account":${trace.accountId}`
    line += `,"status":${response.status}`
    if (typeof code === 'number') line += `,"code":${code}`
    line += `,"ms":${Math.round(durationMs * 100) / 100}}\n`
    if (gathered === '') setImmediate(flush)
    else if (gathered.length + line.length > maxGathered) flush()
    gathered += line
  }
}

/** Calls that end in the same millisecond share its text. */
function createTimeFormat(): () => string {
  let formattedAt = 0
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== formattedAt) {
      formattedAt = now
      text = new Date(now).toISOString()
    }
    return text
  }
}
