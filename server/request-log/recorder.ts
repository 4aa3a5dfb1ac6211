// Records API calls: queued in memory after the response, then masked and written in the background.
import { createHmac, hash } from 'node:crypto'
import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'
import { dayMs, formatDay, hourMs, minuteMs, shanghaiOffsetMs } from '../../contract/time.ts'
import type { Database } from '../db/database.ts'
import type { Jobs } from '../jobs.ts'
import type { CallSource } from '../http/call.ts'
import { bodyLimit, type CompletedCall } from '../http/endpoint.ts'
import type { ParameterSources } from '../http/parameters.ts'
import { createLogBudget } from './budget.ts'
import { mergeCount, createDayCount, withPlatform } from './day-counts.ts'
import { createProcessorWait } from './processor-wait.ts'
import { bytesOf, type CallResult, type QueuedCall, resultOf, termLength, termsOf, toRow } from './rows.ts'
import { addCounts, addUses, type DayCount, deleteCallsBefore, insertCalls } from './store.ts'

/**
 * Beyond these limits calls are counted but not recorded, so that memory stays bounded when the database is slow. Unpaid
 * calls of one account have a limit of their own, so that they do not displace the calls of others.
 */
const maxQueued = 10_000
const maxQueuedUnpaid = 1_000
const maxQueuedBytes = 16 * 1_048_576

const flushEveryMs = 250
const perFlush = 500
/**
 * Calls in one transaction, for each millisecond of work that the database allows in one. It keeps transactions short for other
 * writers: on SQLite a transaction also occupies the event loop.
 */
const callsPerWorkMs = 6

/**
 * Above this event loop utilization, or when the process waits for a processor for more than this share of the time, a flush writes
 * fewer calls: paid calls need the time. Calls that do not fit into the queue then are counted, not recorded.
 */
const busyUtilization = 0.75
const busyWait = 0.25
const perBusyFlush = 24

/** Dropped calls are logged at most this often. */
const logEveryMs = minuteMs

/** Why a call was not recorded. */
type DropReason = 'queue' | 'budget' | 'database'

export interface RequestLog {
  /** Queues a completed call. Never waits and never fails. */
  record(completed: CompletedCall): void
  /** The stored forms of a text that a call can be found by: the current one, and that of calls recorded by version 1.0.0. */
  termsFor(text: string): readonly string[]
  /** Writes the whole queue. */
  flush(): Promise<void>
  /** Deletes calls older than `REQUEST_LOG_DAYS`. */
  prune(signal?: AbortSignal): Promise<void>
  readonly stats: { readonly waiting: number; readonly dropped: number }
  start(jobs: Jobs): void
}

export interface RequestLogOptions {
  readonly db: Database
  readonly secret: string
  /** With 0, calls are counted but not recorded. */
  readonly days: number
  /** What failed and free calls of one account may add per day. */
  readonly unpaidBytesPerDay: number
  readonly log: Logger
  readonly metrics: Registry
}

export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { db, secret, days, log } = options
  let queue: QueuedCall[] = []
  let bytes = 0
  const perTransaction = callsPerWorkMs * db.maxWorkMs
  const dropped: Record<DropReason, number> = { queue: 0, budget: 0, database: 0 }
  let loggedAt = Number.NEGATIVE_INFINITY
  const unpaidByAccount = new Map<number, number>()
  const budget = createLogBudget(options.unpaidBytesPerDay, (accountId, day) =>
    log.warn({ account: accountId, day }, 'failed and free calls of an account are no longer recorded today'),
  )
  new Counter({
    name: 'tollgate_request_log_dropped_total',
    help: 'Calls that were counted but not recorded in the request log, by reason',
    labelNames: ['reason'],
    registers: [options.metrics],
    collect() {
      this.reset()
      for (const [reason, calls] of Object.entries(dropped)) this.inc({ reason }, calls)
    },
  })
  let counts = new Map<string, DayCount>()
  let running: Promise<void> | undefined

  function count(
    accountId: number,
    endpoint: string,
    at: number,
    result: CallResult,
    source: CallSource,
  ): void {
    // Uses the number of the Shanghai day, because formatting it for every call is slow.
    const key = `${accountId} ${Math.floor((at + shanghaiOffsetMs) / dayMs)} ${endpoint} ${result.code}`
    let found = counts.get(key)
    if (!found) {
      found = createDayCount(accountId, formatDay(at), endpoint, result.code)
      counts.set(key, found)
    }
    found.calls += 1
    if (result.ok) found.succeeded += 1
    const isPaid = result.ok && result.spent > 0
    if (isPaid) found.paid += 1
    found.credits += result.spent
    if (source === 'console') {
      found.console_calls += 1
      if (isPaid) found.console_paid += 1
    }
  }

  function record({ call, endpoint, response, durationMs, requestId, method }: CompletedCall): void {
    const accountId = call?.trace.accountId
    if (!call || accountId === undefined) return
    const at = Date.now() - Math.round(durationMs)
    const { trace, sources, address } = call
    const result = resultOf(response.status, response.body, trace)
    count(accountId, endpoint.name, at, result, call.source)
    if (days === 0) return
    const isPaid = result.ok && result.spent > 0
    if (!isPaid && !budget.isOpen(accountId, at)) {
      skip(accountId, at)
      return
    }
    const size = 1_000 + bodyBytes(sources.headers)
    const unpaid = isPaid ? 0 : (unpaidByAccount.get(accountId) ?? 0) + 1
    if (queue.length >= maxQueued || bytes + size > maxQueuedBytes || unpaid > maxQueuedUnpaid) {
      drop('queue', 1)
      return
    }
    bytes += size
    if (!isPaid) unpaidByAccount.set(accountId, unpaid)
    queue.push({
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
      source: call.source,
      idempotent: call.idempotencyKey !== undefined,
      sources,
      bytes: size,
      isPaid,
    })
  }

  function drop(reason: DropReason, calls: number): void {
    dropped[reason] += calls
    if (performance.now() - loggedAt < logEveryMs) return
    loggedAt = performance.now()
    log.warn({ dropped }, 'calls were not recorded in the request log')
  }

  function skip(accountId: number, at: number): void {
    budget.skip(accountId, at)
    dropped.budget += 1
  }

  // A hash of the secret and the text is enough, because half of it is cut off. It takes a third of the time of an HMAC, which
  // was 4 % of a call.
  const termOf = (text: string) => hash('sha256', secret + text, 'base64url').slice(0, termLength)
  const formerTermOf = (text: string) =>
    createHmac('sha256', secret).update(text).digest('base64url').slice(0, termLength)

  async function writeQueue(max: number): Promise<void> {
    // Written once per flush, because all processes lock the same rows.
    let own = counts
    counts = new Map()
    for (let written = 0; written < max && (queue.length > 0 || own.size > 0);) {
      const some = takeCalls(Math.min(perTransaction, max - written))
      const summed = withPlatform([...own.values()])
      const calls = some.map(toRow)
      const found = some.map((one) => termsOf(one, termOf))
      for (const [i, one] of some.entries()) {
        if (!one.isPaid) budget.addBytes(one.accountId, one.at, bytesOf(calls[i]!, found[i]!.length))
      }
      const uses = budget.take()
      try {
        const totals = await db.write(async (tx) => {
          await addCounts(tx, summed)
          await insertCalls(tx, calls, found.flat())
          return addUses(tx, uses)
        })
        budget.setTotals(totals)
        own = new Map()
      } catch (error) {
        // The database is unavailable: drop these calls, but keep their counts.
        drop('database', some.length)
        budget.putBack(uses)
        for (const [key, one] of own) mergeCount(counts, key, one)
        throw error
      }
      written += Math.max(1, some.length)
    }
  }

  /** The next calls of the queue, without those whose budget was used up meanwhile. */
  function takeCalls(max: number): QueuedCall[] {
    const some = queue.slice(0, max)
    queue = queue.slice(some.length)
    for (const { bytes: size, isPaid, accountId } of some) {
      bytes -= size
      if (isPaid) continue
      const unpaid = (unpaidByAccount.get(accountId) ?? 1) - 1
      if (unpaid > 0) unpaidByAccount.set(accountId, unpaid)
      else unpaidByAccount.delete(accountId)
    }
    return some.filter(({ isPaid, accountId, at }) => {
      const isKept = isPaid || budget.isOpen(accountId, at)
      if (!isKept) skip(accountId, at)
      return isKept
    })
  }

  async function flush(max: number): Promise<void> {
    while (running) await running.catch(() => undefined)
    running = writeQueue(max)
    try {
      await running
    } finally {
      running = undefined
    }
  }

  const prune = (signal?: AbortSignal) => deleteCallsBefore(db, Date.now() - days * dayMs, signal)

  return {
    record,
    termsFor: (text) => [termOf(text), formerTermOf(text)],
    async flush() {
      do await flush(Number.MAX_SAFE_INTEGER)
      while (queue.length > 0 || counts.size > 0)
    },
    prune,
    stats: {
      get waiting() {
        return queue.length
      },
      get dropped() {
        return dropped.queue + dropped.budget + dropped.database
      },
    },
    start(jobs) {
      let last = performance.eventLoopUtilization()
      const waitForProcessor = createProcessorWait()
      jobs.every(flushEveryMs, 'flush_request_log', async () => {
        const now = performance.eventLoopUtilization()
        const { utilization } = performance.eventLoopUtilization(now, last)
        last = now
        const isBusy = waitForProcessor() > busyWait || utilization > busyUtilization
        await flush(isBusy ? perBusyFlush : perFlush)
      })
      jobs.every(hourMs, 'prune_request_log', prune)
    },
  }
}

/** Estimates the memory of a queued body. A chunked body has no length and may be as large as the limit. */
function bodyBytes(headers: ParameterSources['headers']): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length']) || 0 : bodyLimit
}
