// One line for each call of the API. The logger takes four times as long over it, and every field is known here.
import { type Logger, pino } from 'pino'
import type { Answered } from '../http/endpoint.ts'
import { isoTime } from './log.ts'

/** Each field is a number, a name of ours or an id we made: nothing is left to redact or to escape. */
export function callLog(log: Logger): (answered: Answered) => void {
  if (!log.isLevelEnabled('info')) return () => undefined
  const { info } = log.levels.values
  const lines = (log as unknown as Record<symbol, { write(line: string): void }>)[pino.symbols.streamSym]!
  return ({ requestId, endpoint, call, answer, durationMs }) => {
    const { code } = answer.body as { code?: number }
    let line = `{"level":${info}${isoTime()},"requestId":"${requestId}","endpoint":"${endpoint.name}"`
    if (call?.notes.action !== undefined) line += `,"action":"${call.notes.action}"`
    if (call?.notes.accountId !== undefined) line += `,"account":${call.notes.accountId}`
    line += `,"status":${answer.status}`
    if (code !== undefined) line += `,"code":${code}`
    lines.write(`${line},"ms":${Math.round(durationMs * 100) / 100}}\n`)
  }
}
