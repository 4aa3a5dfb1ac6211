// Delivers events: leases endpoints with due deliveries and works through them, each endpoint on its own.
import { Counter, Gauge, type Registry } from 'prom-client'
import { webhookLimits } from '../../contract/events.ts'
import { hourMs, minuteMs } from '../../contract/time.ts'
import type { Database, Tx } from '../db/database.ts'
import type { Jobs } from '../jobs.ts'
import { readForMetric } from '../metric-reads.ts'
import type { DeliveryAttempt } from './attempt.ts'
import {
  deleteOldEvents,
  deleteUndeliverable,
  type DueDelivery,
  findBacklog,
  hasDue,
  leaseEndpoints,
  type LeasedEndpoint,
  maxCountedDeliveries,
  pullInDeliveries,
  recordAttempts,
  recordEndpointResult,
  releaseEndpoint,
  takeDue,
} from './dispatch-store.ts'
import { reportExpiring } from './expiring-store.ts'
import { findNow } from './store.ts'
import type { disableEndpoint } from './webhooks.ts'

interface NextChunk {
  readonly endpoint: LeasedEndpoint
  readonly chunk: readonly DueDelivery[]
}

/** Sends events to one endpoint. */
export interface EventSender {
  /** Attempts at the same time. */
  readonly concurrency: number
  attempt(delivery: DueDelivery, signal: AbortSignal): Promise<DeliveryAttempt>
}

export interface DispatcherOptions {
  readonly db: Database
  readonly senderFor: (endpoint: LeasedEndpoint) => EventSender
  /** Between two attempts of a delivery, at most. */
  readonly maxWaitMs: number
  readonly keepDays: number
  readonly disable: typeof disableEndpoint
  readonly metrics: Registry
  readonly onError: (error: unknown) => void
  /** Endpoints served at a time by this process. */
  readonly maxEndpoints?: number
}

export interface Dispatcher {
  start(jobs: Jobs): void
  /** Ends running requests and leaves the endpoints to other processes; what was not delivered is sent again. */
  stop(): Promise<void>
}

/** Deliveries of one endpoint that are taken together. */
const chunkSize = 64
/** Attempts at the same time to one endpoint. */
export const maxConcurrency = 16
/** Longer than a chunk can take. */
export const leaseMs = Math.ceil(chunkSize / maxConcurrency) * webhookLimits.timeoutMs + 30_000
const pollMs = 250

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, onError, maxEndpoints = 200 } = options
  const stopping = new AbortController()
  const serving = new Map<number, Promise<void>>()
  /** One for each chunk in progress, because adding a listener to a signal that has hundreds is slow. */
  const sending = new Set<AbortController>()
  const metrics = registerMetrics(options.metrics, db)
  let looking: Promise<void> = Promise.resolve()

  /** Starts serving endpoints with due deliveries, as many as there are slots. */
  async function look(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !stopping.signal.aborted) {
      const limit = maxEndpoints - serving.size
      if (limit <= 0 || !(await hasDue(db, leaseMs))) return
      const { endpoints, due } = await db.write(async (tx) => {
        const leased = await leaseEndpoints(tx, limit, leaseMs)
        return { endpoints: leased, due: await takeDue(tx, idsOf(leased), chunkSize) }
      })
      const byEndpoint = Map.groupBy(due, ({ endpoint_id: id }) => id)
      for (const endpoint of endpoints) {
        const served = serve(endpoint, byEndpoint.get(endpoint.id) ?? [])
          .catch(onError)
          .finally(() => serving.delete(endpoint.id))
        serving.set(endpoint.id, served)
      }
      if (endpoints.length < limit) return
      // All slots were taken, and more endpoints may wait: look again as soon as one is free.
      await Promise.race(serving.values())
    }
  }

  /** Works through the due deliveries of one endpoint, a chunk at a time. */
  async function serve(leased: LeasedEndpoint, first: readonly DueDelivery[]): Promise<void> {
    let next: NextChunk | undefined = { endpoint: leased, chunk: first }
    while (next && next.chunk.length > 0) {
      const { endpoint, chunk }: NextChunk = next
      const results = stopping.signal.aborted ? [] : await sendAll(chunk, options.senderFor(endpoint))
      if (results.length === 0) {
        // The service stops, and nothing was sent.
        await db.write((tx) => releaseEndpoint(tx, endpoint.id))
        return
      }
      next = await advance(endpoint, results)
    }
  }

  /** Returns no results of requests that a stop has ended. */
  async function sendAll(chunk: readonly DueDelivery[], sender: EventSender): Promise<DeliveryAttempt[]> {
    const results: DeliveryAttempt[] = []
    const waiting = [...chunk]
    const aborting = new AbortController()
    sending.add(aborting)
    const sendNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const result = await sender.attempt(next, aborting.signal)
        if (aborting.signal.aborted && !result.succeeded) return
        results.push(result)
        // The receiver asked for a pause or does not respond: the rest stays due.
        if (result.disable !== undefined || result.pauseMs > 0 || result.record.status === null)
          waiting.length = 0
        if (stopping.signal.aborted) waiting.length = 0
      }
    }
    try {
      await Promise.all(Array.from({ length: Math.min(sender.concurrency, chunk.length) }, sendNext))
    } finally {
      sending.delete(aborting)
    }
    return results
  }

  /** Records the results and takes the next chunk, in one transaction. Undefined when nothing more is to be sent for now. */
  async function advance(
    endpoint: LeasedEndpoint,
    results: readonly DeliveryAttempt[],
  ): Promise<NextChunk | undefined> {
    const succeeded = results.some((result) => result.succeeded)
    const pauseMs = Math.max(0, ...results.map((result) => result.pauseMs))
    const final = results.find((result) => result.disable !== undefined)?.disable
    const next = await db.write(async (tx: Tx) => {
      const now = await findNow(tx)
      await recordAttempts(
        tx,
        now,
        results.map((result) => result.record),
      )
      const { failing_since: since } = endpoint
      const hasFailedLong =
        !succeeded && since !== null && now - since >= webhookLimits.disableAfterMs ? 'failing' : undefined
      const reason = final ?? hasFailedLong
      if (reason !== undefined) await options.disable(tx, endpoint, reason)
      // The endpoint is read again, so that a new URL or secret is used from the next chunk on.
      const current = await recordEndpointResult(tx, endpoint, { succeeded, pauseMs, leaseMs })
      // While all slots are taken, another endpoint may wait for this one.
      const isPaused = pauseMs > 0 && current?.url === endpoint.url
      const mustLeave =
        isPaused || current?.state !== 'active' || serving.size >= maxEndpoints || stopping.signal.aborted
      const chunk = mustLeave ? [] : await takeDue(tx, [endpoint.id], chunkSize)
      if (chunk.length === 0) await releaseEndpoint(tx, endpoint.id)
      return current && { endpoint: current, chunk }
    })
    for (const result of results) metrics.attempts.inc({ result: result.succeeded ? 'success' : 'failure' })
    return next
  }

  return {
    start(jobs) {
      jobs.every(hourMs, 'report_expiring_accounts', (signal) => reportExpiring(db, signal))
      jobs.every(pollMs, 'deliver_events', (signal) => (looking = look(signal)))
      jobs.every(minuteMs, 'delete_undeliverable_events', (signal) => deleteUndeliverable(db, signal))
      jobs.every(minuteMs, 'pull_in_events', (signal) => pullInDeliveries(db, options.maxWaitMs, signal))
      jobs.every(hourMs, 'delete_old_events', (signal) => deleteOldEvents(db, options.keepDays, signal))
    },
    async stop() {
      stopping.abort()
      for (const aborting of sending) aborting.abort()
      // It may be leasing endpoints, which are given back then.
      await looking.catch(() => undefined)
      await Promise.all(serving.values())
    },
  }
}

function idsOf(rows: readonly { readonly id: number }[]): number[] {
  return rows.map(({ id }) => id)
}

function registerMetrics(registry: Registry, db: Database) {
  const backlog = new Gauge({
    name: 'tollgate_webhook_backlog',
    help: `Deliveries of events that are pending, at most ${maxCountedDeliveries.toLocaleString('en')}`,
    registers: [registry],
    aggregator: 'max',
    collect: () =>
      readForMetric(async () => {
        const { pending, oldestDueAt } = await findBacklog(db)
        backlog.set(pending)
        oldest.set(oldestDueAt === undefined ? 0 : Math.max(0, (Date.now() - oldestDueAt) / 1000))
      }),
  })
  const oldest = new Gauge({
    name: 'tollgate_webhook_oldest_due_seconds',
    help: 'How long the oldest pending delivery has been due',
    registers: [registry],
    aggregator: 'max',
  })
  const attempts = new Counter({
    name: 'tollgate_webhook_attempts_total',
    help: 'Attempts to deliver events',
    labelNames: ['result'],
    registers: [registry],
  })
  for (const result of ['success', 'failure']) attempts.inc({ result }, 0)
  return { attempts }
}
