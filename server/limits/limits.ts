// The limits of this service: in memory for a single process, shared between several. While the shared store is unavailable,
// each process counts for itself and calls continue.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Jobs } from '../jobs.ts'
import { createLazyCache } from '../lazy-cache.ts'
import { createSharedFailures } from './failures.ts'
import { createLeases } from './leases.ts'
import { createMemoryAttempts } from './memory.ts'
import type { AttemptKey, AttemptResult, CountedAttempt, LimitStore } from './port.ts'
import { type CallLimits, FailureWindows, failuresPerMinute, TokenBuckets } from './token-bucket.ts'

/** Counted attempts of any kind, such as sign-ins. */
export interface Attempts {
  attempt(keys: readonly AttemptKey[], windowMs: number): Promise<AttemptResult>
  undo(counted: readonly CountedAttempt[], resetKey?: string): Promise<void>
}

export interface Limits extends CallLimits {
  readonly attempts: Attempts
  start(jobs: Pick<Jobs, 'every'>): void
  stop(): void
}

/** For a single process. */
export function createLocalLimits(): Limits {
  const buckets = new TokenBuckets()
  const failures = new FailureWindows(failuresPerMinute)
  const attempts = createMemoryAttempts()
  return {
    take: async (accountId, limit) => buckets.take(accountId, limit),
    fail: (address) => failures.fail(address),
    isBlocked: (address) => failures.isBlocked(address),
    attempts: {
      attempt: async (keys, windowMs) => attempts.attempt(keys, windowMs),
      undo: async (counted, resetKey) => attempts.undo(counted, resetKey),
    },
    start: () => undefined,
    stop: () => undefined,
  }
}

/** How long a call waits for the shared store before this process counts for itself. */
const callTimeoutMs = 1_000

/** A sign-in waits longer: a busy machine must not allow more guesses. */
const attemptTimeoutMs = 5_000

/**
 * How long a key that has reached its maximum is refused without asking the store: a flood of attempts that are refused would keep
 * other attempts waiting until they time out.
 */
const refusalMs = 1_000
const maxRefusals = 50_000

/** How often an unavailable store is checked. No call waits for the check. */
const pingIntervalMs = 1_000

const deleteExpiredMs = 600_000

export interface SharedOptions {
  readonly log: Logger
  readonly metrics: Registry
  /** Replaces both timeouts. */
  readonly timeoutMs?: number
}

export function createSharedLimits(store: LimitStore, options: SharedOptions): Limits {
  const { log } = options
  const localBuckets = new TokenBuckets()
  const localAttempts = createMemoryAttempts()
  /** When the windows of full keys end. */
  const refusals = createLazyCache<string, { readonly endsAt: number }>({ max: maxRefusals, ttl: refusalMs })
  /** Attempts that wait for the store, by key: more than the maximum of a key are refused in any case. */
  const asking = new Map<string, number>()
  let isAway = false
  let stopped = false
  let pingTimer: NodeJS.Timeout | undefined
  const counters = registerMetrics(options.metrics, () => isAway)

  /** The store's response, or an error after the timeout. Both kinds of error switch to local counting. */
  async function withTimeout<T>(response: Promise<T>, timeoutMs = callTimeoutMs): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('timed out')), options.timeoutMs ?? timeoutMs).unref()
    })
    try {
      return await Promise.race([response, timeout])
    } catch (error) {
      switchToLocal(error)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  function switchToLocal(error: unknown): void {
    if (isAway || stopped) return
    isAway = true
    log.warn({ err: error }, 'shared limits are unavailable, each process counts for itself')
    schedulePing()
  }

  function schedulePing(): void {
    pingTimer = setTimeout(() => {
      Promise.race([store.ping(), rejectAfter(pingIntervalMs)]).then(
        () => {
          if (stopped) return
          isAway = false
          log.info('limits are shared again')
        },
        () => {
          if (!stopped) schedulePing()
        },
      )
    }, pingIntervalMs).unref()
  }

  const leases = createLeases({
    draw(requests) {
      counters.draws.inc()
      return withTimeout(store.draw(requests))
    },
    takeLocally: (accountId, limit) => localBuckets.take(accountId, limit),
    isAway: () => isAway,
  })

  const failures = createSharedFailures(
    (counts, windowMs) =>
      withTimeout(
        store.addFailures(
          counts.map(({ key, count }) => ({ key: hashKey(key), count })),
          windowMs,
        ),
      ),
    () => isAway,
  )

  async function attempt(keys: readonly AttemptKey[], windowMs: number): Promise<AttemptResult> {
    const hashed = keys.map(({ key, max }) => ({ key: hashKey(key), max }))
    if (!isAway) {
      const refused = findRefusal(hashed)
      if (refused) return refused
      for (const { key } of hashed) asking.set(key, (asking.get(key) ?? 0) + 1)
      const result = await withTimeout(store.attempt(hashed, windowMs), attemptTimeoutMs)
        .catch(() => undefined)
        .finally(() => hashed.forEach(({ key }) => endAsking(key)))
      if (result && 'retryAfterMs' in result)
        refusals().set(result.key, { endsAt: performance.now() + result.retryAfterMs })
      if (result) return result
    }
    return localAttempts.attempt(hashed, windowMs)
  }

  function findRefusal(keys: readonly AttemptKey[]): AttemptResult | undefined {
    for (const { key, max } of keys) {
      const retryAfterMs = (refusals().get(key)?.endsAt ?? 0) - performance.now()
      if (retryAfterMs > 0) return { retryAfterMs, key }
      if ((asking.get(key) ?? 0) >= max) return { retryAfterMs: refusalMs, key }
    }
    return undefined
  }

  function endAsking(key: string): void {
    const left = asking.get(key)! - 1
    if (left > 0) asking.set(key, left)
    else asking.delete(key)
  }

  async function undo(counted: readonly CountedAttempt[], resetKey?: string): Promise<void> {
    const key = resetKey === undefined ? undefined : hashKey(resetKey)
    for (const one of counted) refusals().delete(one.key)
    if (key !== undefined) refusals().delete(key)
    // A window is identified by its start, so this does not touch attempts that the store counted.
    localAttempts.undo(counted, key)
    if (!isAway) await withTimeout(store.undo(counted, key), attemptTimeoutMs).catch(() => undefined)
  }

  return {
    take: leases.take,
    fail: failures.fail,
    isBlocked: failures.isBlocked,
    attempts: { attempt, undo },
    start(jobs) {
      if (!store.deleteExpired) return
      jobs.every(deleteExpiredMs, 'prune_limits', async () => {
        if (!isAway) await store.deleteExpired?.()
      })
    },
    stop() {
      stopped = true
      clearTimeout(pingTimer)
      store.close()
    },
  }
}

/** User names and addresses do not leave the process. */
function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('base64url')
}

async function rejectAfter(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false })
  throw new Error('timed out')
}

function registerMetrics(registry: Registry, isAway: () => boolean) {
  new Gauge({
    name: 'tollgate_limits_shared',
    help: '1 while processes share their limits, 0 while each process counts for itself',
    aggregator: 'min',
    registers: [registry],
    collect() {
      this.set(isAway() ? 0 : 1)
    },
  })
  return {
    draws: new Counter({
      name: 'tollgate_limit_draws_total',
      help: 'Draws from the shared buckets, each for all accounts that needed tokens at that moment',
      registers: [registry],
    }),
  }
}
