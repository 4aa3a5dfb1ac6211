// What the three chat robots have in common: one JSON request, and a body that says whether it worked.
import type { Agent } from 'undici'
import { httpCall } from '../../upstream/http-call.ts'
import { parseJsonObject } from '../../upstream/json.ts'
import type { AlertResult } from './port.ts'

export interface RobotRequest {
  readonly url: string
  readonly body: unknown
  readonly agent: Agent
  readonly signal: AbortSignal
  /** The result code of a response; undefined when it has none. */
  readonly codeOf: (body: Readonly<Record<string, unknown>>) => number | undefined
  /** Codes that say: too fast, try later. Any other code but 0 is final. */
  readonly throttled: readonly number[]
}

const timeoutMs = 10_000
const throttledMs = 600_000

export async function callRobot(request: RobotRequest): Promise<AlertResult> {
  const result = await httpCall(
    {
      method: 'POST',
      url: request.url,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(request.body),
    },
    { timeoutMs, maxBodyBytes: 16_384, agent: request.agent, signal: request.signal },
  )
  if (result.kind !== 'response') return { kind: 'retry', reason: result.reason, waitMs: 0 }
  const body = parseJsonObject(result.body)
  const code = body && request.codeOf(body)
  if (code === 0) return { kind: 'sent' }
  if (code === undefined) return { kind: 'retry', reason: `status_${result.status}`, waitMs: 0 }
  if (request.throttled.includes(code)) return { kind: 'retry', reason: `code_${code}`, waitMs: throttledMs }
  return { kind: 'rejected', reason: `code_${code}` }
}

/** Some providers write the code as text. */
export function readCode(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const code = Number(value)
  return Number.isInteger(code) ? code : undefined
}

/** Cuts text to a number of UTF-8 bytes, between two characters. */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  const cut = new TextDecoder().decode(bytes.subarray(0, maxBytes - 3)).replace(/\uFFFD+$/, '')
  return `${cut}…`
}
