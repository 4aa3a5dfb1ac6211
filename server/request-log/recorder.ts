// Records API calls for the inspector: noted in memory when answered, masked and written a moment later, never in a caller's way.
import { dayMs, hourMs, shanghaiOffsetMs } from '../../contract/time.ts'
import { createHmac } from 'node:crypto'
import type { Endpoint } from '../../contract/endpoint.ts'
import { requestSteps } from '../../contract/console/requests.ts'
import { formatDay } from '../../contract/time.ts'
import type { Database } from '../db/database.ts'
import type { CallTrace } from '../http/call.ts'
import type { CompletedCall } from '../http/endpoint.ts'
import type { ParameterSources } from '../http/parameters.ts'
import { maskedAnswer, maskedParameters, maskText, sentValue } from './masking.ts'
import {
  addCounts,
  type DayCount,
  deleteCallsBefore,
  type FoundBy,
  insertCalls,
  type LoggedCall,
  wholePlatform,
} from './store.ts'

/** Beyond these, calls are counted but no longer kept: memory stays bounded when the database is slow or gone. */
const mostWaiting = 10_000
const mostWaitingBytes = 16 * 1_048_576
const largestBody = 1_048_576

const flushEveryMs = 250
/** A flush writes so many, and no more, so that other writers get their turn. */
const perFlush = 500
const perTransaction = 100

/** When the process is this busy with calls, the inspector steps back: what does not fit is counted, not kept. */
const busy = 0.75
const perBusyFlush = 25

const pruneEveryMs = hourMs
const perPrune = 2_000

interface Waiting {
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
  readonly idempotent: boolean
  readonly sources: ParameterSources
  readonly bytes: number
}

export interface RequestLog {
  /** Notes an answered call. Does nothing that could wait or fail. */
  record(answered: CompletedCall): void
  /** What a call can be found by, as it is stored. */
  termOf(text: string): string
  /** Writes what waits, all of it. */
  flush(): Promise<void>
  /** Forgets calls that are too old. */
  prune(): Promise<void>
  readonly stats: { readonly waiting: number; readonly dropped: number }
  start(): void
  stop(): Promise<void>
}

export interface RequestLogOptions {
  readonly db: Database
  readonly secret: string
  /** 0: calls are counted, but not kept. */
  readonly days: number
  readonly onError: (error: unknown) => void
}

export function openRequestLog({ db, secret, days, onError }: RequestLogOptions): RequestLog {
  let waiting: Waiting[] = []
  let bytes = 0
  let dropped = 0
  let counts = new Map<string, DayCount>()
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let pruneTimer: NodeJS.Timeout | undefined

  function count(accountId: number, endpoint: string, at: number, seen: Seen): void {
    // The number of the day in Shanghai; its name is made once, not for every call.
    const key = `${accountId} ${Math.floor((at + shanghaiOffsetMs) / dayMs)} ${endpoint} ${seen.code}`
    let found = counts.get(key)
    if (!found) {
      found = newCount(accountId, formatDay(at), endpoint, seen.code)
      counts.set(key, found)
    }
    found.calls += 1
    if (seen.ok) found.succeeded += 1
    if (seen.ok && seen.spent > 0) found.paid += 1
    found.credits += seen.spent
  }

  function record({ call, endpoint, response, durationMs, requestId, method }: CompletedCall): void {
    const accountId = call?.trace.accountId
    if (!call || accountId === undefined) return
    const at = Date.now() - Math.round(durationMs)
    const { trace, sources, address } = call
    const seen = seenOf(response.status, response.body, trace)
    count(accountId, endpoint.name, at, seen)
    if (days === 0) return
    const size = 1_000 + bodyBytes(sources.headers)
    if (waiting.length >= mostWaiting || bytes + size > mostWaitingBytes) {
      dropped += 1
      return
    }
    bytes += size
    waiting.push({
      endpoint,
      requestId,
      at,
      method,
      status: response.status,
      body: response.body,
      durationMs,
      trace,
      accountId,
      address,
      idempotent: call.idempotencyKey !== undefined,
      sources,
      bytes: size,
    })
  }

  function termOf(text: string): string {
    return createHmac('sha256', secret).update(text).digest('base64url').slice(0, 22)
  }

  function describe(one: Waiting): LoggedCall {
    const { trace, endpoint } = one
    const seen = seenOf(one.status, one.body, trace)
    return {
      account_id: one.accountId,
      request_id: one.requestId,
      at: one.at,
      endpoint: endpoint.name,
      action: trace.action ?? onlyAction(endpoint),
      method: one.method,
      status: one.status,
      code: seen.code,
      ok: seen.ok ? 1 : 0,
      message: seen.ok ? null : messageOf(one.body),
      duration_us: Math.round(one.durationMs * 1000),
      gateway: trace.gateway ?? null,
      charged: trace.charged,
      given_back: trace.refunded,
      replayed: trace.replayed ? 1 : 0,
      idempotent: one.idempotent ? 1 : 0,
      address: one.address,
      parameters: maskedParameters(endpoint, one.sources, trace.parameterSources),
      answer: maskedAnswer(endpoint, one.body),
      steps: JSON.stringify(
        Object.entries(trace.steps)
          .map(([name, ms]) => ({ name, ms: Math.round(ms * 100) / 100 }))
          .sort((a, b) => a.ms - b.ms || stepRank(a.name) - stepRank(b.name)),
      ),
    }
  }

  async function writeSome(most: number): Promise<void> {
    for (let written = 0; written < most && (waiting.length > 0 || counts.size > 0);) {
      const some = waiting.slice(0, perTransaction)
      waiting = waiting.slice(some.length)
      for (const one of some) bytes -= one.bytes
      const own = counts
      const summed = withPlatform([...own.values()])
      counts = new Map()
      const calls = some.map(describe)
      const found = some.flatMap((one) => termsOf(one, termOf))
      try {
        await db.write(async (tx) => {
          await addCounts(tx, summed)
          await insertCalls(tx, calls, found)
        })
      } catch (error) {
        // The database is away. The calls of this lot are lost to the inspector, their counts are not.
        dropped += some.length
        for (const [key, one] of own) mergeCount(counts, key, one)
        throw error
      }
      written += Math.max(1, some.length)
    }
  }

  async function flush(most: number): Promise<void> {
    while (running) await running.catch(() => undefined)
    running = writeSome(most)
    try {
      await running
    } finally {
      running = undefined
    }
  }

  async function prune(): Promise<void> {
    const cutoff = Date.now() - days * dayMs
    while (await db.write((tx) => deleteCallsBefore(tx, cutoff, perPrune))) {
      // Others write between two rounds.
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  return {
    record,
    termOf,
    flush: () => flush(Number.MAX_SAFE_INTEGER),
    prune,
    stats: {
      get waiting() {
        return waiting.length
      },
      get dropped() {
        return dropped
      },
    },
    start() {
      let seen = performance.eventLoopUtilization()
      timer = setInterval(() => {
        const now = performance.eventLoopUtilization()
        const { utilization } = performance.eventLoopUtilization(now, seen)
        seen = now
        if (running || (waiting.length === 0 && counts.size === 0)) return
        flush(utilization > busy ? perBusyFlush : perFlush).catch(onError)
      }, flushEveryMs)
      pruneTimer = setInterval(() => void prune().catch(onError), pruneEveryMs)
      pruneTimer.unref()
    },
    async stop() {
      clearInterval(timer)
      clearInterval(pruneTimer)
      await flush(Number.MAX_SAFE_INTEGER).catch(onError)
    },
  }
}

/** How much memory the body of a waiting call may hold. In chunks it does not say, and may be as large as any. */
function bodyBytes(headers: ParameterSources['headers']): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length']) || 0 : largestBody
}

interface Seen {
  /** 0 for success; else the answer's code, or the HTTP status where it has none. */
  readonly code: number
  readonly ok: boolean
  readonly spent: number
}

/** Each endpoint says success in its own way: a code of 0, or `success`. */
function seenOf(status: number, body: unknown, trace: CallTrace): Seen {
  const { code, success } = body as { code?: unknown; success?: unknown }
  const ok = status < 400 && (typeof code === 'number' ? code === 0 : success !== false)
  const failed = typeof code === 'number' ? code : status < 400 ? 1005 : status
  return { code: ok ? 0 : failed, ok, spent: trace.charged - trace.refunded }
}

function messageOf(body: unknown): string | null {
  const { message } = body as { message?: unknown }
  return typeof message === 'string' ? maskText(message) : null
}

/** An endpoint without actions has one operation. */
function onlyAction(endpoint: Endpoint): string | null {
  const [only, ...others] = Object.keys(endpoint.operations)
  return only !== undefined && others.length === 0 ? only : null
}

const searchable = ['phone_number', 'biz_id', 'short_code'] as const

function termsOf(one: Waiting, termOf: (text: string) => string): FoundBy[] {
  const texts = new Set<string>()
  for (const name of searchable) {
    const source = one.trace.parameterSources[name]
    if (source) add(texts, sentValue(one.sources, name, source))
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

function newCount(accountId: number, day: string, endpoint: string, code: number): DayCount {
  return { account_id: accountId, day, endpoint, code, calls: 0, succeeded: 0, paid: 0, credits: 0 }
}

/**
 * The accounts' counts and the platform's sums of them, in one order for everyone: two processes that add to the same
 * rows must not wait for each other in a circle.
 */
function withPlatform(own: readonly DayCount[]): DayCount[] {
  const sums = new Map<string, DayCount>()
  for (const one of own) {
    mergeCount(sums, `${one.day} ${one.endpoint} ${one.code}`, { ...one, account_id: wholePlatform })
  }
  const keyOf = (one: DayCount) => `${one.account_id} ${one.day} ${one.endpoint} ${one.code}`
  return [...own, ...sums.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

function mergeCount(counts: Map<string, DayCount>, key: string, one: DayCount): void {
  const there = counts.get(key)
  if (!there) {
    counts.set(key, one)
    return
  }
  there.calls += one.calls
  there.succeeded += one.succeeded
  there.paid += one.paid
  there.credits += one.credits
}
