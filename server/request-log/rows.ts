// The rows of a call in the request log: the call itself with its parameters and response masked, and what it can be found by.
import { requestSteps } from '../../contract/console/requests.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import type { CallSource, CallTrace } from '../http/call.ts'
import type { ParameterSources } from '../http/parameters.ts'
import { maskParameters, maskResponse, maskText, paidSize, readSentValue, unpaidSize } from './masking.ts'
import type { LoggedCall, SearchTerm } from './store.ts'

/** What a row takes besides its texts, with its share of the indexes, and a search term. */
const rowBytes = 350
const termBytes = 120
/** Characters: half of a hash. */
export const termLength = 22

export interface QueuedCall {
  readonly endpoint: Endpoint
  readonly requestId: string
  readonly at: number
  readonly method: string
  readonly status: number
  readonly body: unknown
  readonly durationMs: number
  readonly trace: CallTrace
  readonly accountId: number
  readonly address: string
  readonly source: CallSource
  readonly idempotent: boolean
  readonly sources: ParameterSources
  readonly bytes: number
  /** Whether the call cost credits. */
  readonly isPaid: boolean
}

export function toRow(one: QueuedCall): LoggedCall {
  const { trace, endpoint } = one
  const result = resultOf(one.status, one.body, trace)
  const size = one.isPaid ? paidSize : unpaidSize
  return {
    account_id: one.accountId,
    request_id: one.requestId,
    at: one.at,
    endpoint: endpoint.name,
    action: trace.action ?? onlyAction(endpoint),
    method: one.method,
    status: one.status,
    code: result.code,
    ok: result.ok ? 1 : 0,
    message: result.ok ? null : messageOf(one.body, size.message),
    duration_us: Math.round(one.durationMs * 1000),
    gateway: trace.gateway ?? null,
    charged: trace.charged,
    given_back: trace.refunded,
    replayed: trace.replayed ? 1 : 0,
    idempotent: one.idempotent ? 1 : 0,
    address: one.address,
    source: one.source,
    parameters: maskParameters(endpoint, one.sources, trace.parameterSources, size.parameters),
    answer: maskResponse(endpoint, one.body, size.response),
    steps: JSON.stringify(
      Object.entries(trace.steps)
        .map(([name, ms]) => ({ name, ms: Math.round(ms * 100) / 100 }))
        .sort((a, b) => a.ms - b.ms || stepRank(a.name) - stepRank(b.name)),
    ),
  }
}

export interface CallResult {
  /** 0 for success; otherwise the code of the response, or the HTTP status when it has none. */
  readonly code: number
  readonly ok: boolean
  readonly spent: number
}

/** Endpoints report success either by a code of 0 or by `success`. */
export function resultOf(status: number, body: unknown, trace: CallTrace): CallResult {
  const { code, success } = body as { code?: unknown; success?: unknown }
  const ok = status < 400 && (typeof code === 'number' ? code === 0 : success !== false)
  const failed = typeof code === 'number' ? code : status < 400 ? 1005 : status
  return { code: ok ? 0 : failed, ok, spent: trace.charged - trace.refunded }
}

function messageOf(body: unknown, maxChars: number): string | null {
  const { message } = body as { message?: unknown }
  if (typeof message !== 'string') return null
  const text = maskText(message)
  return text.length > maxChars ? `${text.slice(0, maxChars).toWellFormed()}…` : text
}

/** What a row takes on the disk, roughly. */
export function bytesOf({ parameters, answer, message, steps }: LoggedCall, terms: number): number {
  const texts = `${parameters}${answer ?? ''}${message ?? ''}${steps}`
  return rowBytes + Buffer.byteLength(texts) + terms * termBytes
}

/** An endpoint without actions has a single operation. */
function onlyAction(endpoint: Endpoint): string | null {
  const [only, ...others] = Object.keys(endpoint.operations)
  return only !== undefined && others.length === 0 ? only : null
}

const searchable = ['phone_number', 'biz_id', 'short_code'] as const

export function termsOf(one: QueuedCall, termOf: (text: string) => string): SearchTerm[] {
  const texts = new Set<string>()
  for (const name of searchable) {
    const source = one.trace.parameterSources[name]
    if (source) add(texts, readSentValue(one.sources, name, source))
  }
  const { data } = one.body as { data?: unknown }
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) {
    for (const name of searchable) add(texts, (data as Record<string, unknown>)[name])
  }
  return [...texts].map((text) => ({
    account_id: one.accountId,
    term: termOf(text),
    request_id: one.requestId,
    at: one.at,
  }))
}

function add(texts: Set<string>, value: unknown): void {
  if (typeof value !== 'string' && typeof value !== 'number') return
  const text = String(value).trim()
  if (text !== '' && text.length <= 64) texts.add(text)
}

function stepRank(name: string): number {
  return (requestSteps as readonly string[]).indexOf(name)
}
