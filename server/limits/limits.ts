// The limits of this service: of its own memory when it is one process, else counted in common. When the common place is
// away, each process counts for itself, and calls go on.
import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { Counter, Gauge, type Registry } from 'prom-client'
import { type CallLimits, FailureWindows, failuresPerMinute, TokenBuckets } from './token-bucket.ts'
import { openFailures } from './failures.ts'
import { openLeases } from './leases.ts'
import { memoryTries } from './memory.ts'
import type { Begun, Counted, LimitStore, TryKey } from './port.ts'

/** Counted tries of any kind. A single process answers at once. */
export interface Tries {
  begin(keys: readonly TryKey[], windowMs: number): Begun | Promise<Begun>
  takeBack(counted: readonly Counted[], forgive?: string): void | Promise<void>
}

export interface Limits extends CallLimits {
  readonly tries: Tries
  start(): void
  stop(): void
}

/** For a single process. */
export function ownLimits(): Limits {
  const buckets = new TokenBuckets()
  const failures = new FailureWindows(failuresPerMinute)
  const tries = memoryTries()
  return {
    take: (accountId, limit) => buckets.take(accountId, limit),
    fail: (address) => failures.fail(address),
    tries: { begin: tries.begin, takeBack: (counted, forgive) => tries.takeBack(counted, forgive) },
    start: () => undefined,
    stop: () => undefined,
  }
}

/** So long a call waits for the common place before each process counts for itself. */
const patienceMs = 1_000

/** Who signs in waits longer: guesses matter more than a moment, and a busy machine is no reason to allow more of them. */
const patienceOfTriesMs = 5_000

/** While it is away it is asked so often whether it is back; nobody waits for that. */
const askAgainMs = 1_000

const tidyMs = 600_000

export interface SharedOptions {
  readonly log: Logger
  readonly metrics: Registry
  readonly patienceMs?: number
}

export function sharedLimits(store: LimitStore, options: SharedOptions): Limits {
  const { log } = options
  const alone = new TokenBuckets()
  const triesAlone = memoryTries()
  let isAway = false
  let stopped = false
  let asking: NodeJS.Timeout | undefined
  let tidying: NodeJS.Timeout | undefined
  const counters = registerMetrics(options.metrics, () => isAway)

  async function inTime<T>(answer: Promise<T>, usualMs = patienceMs): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('no answer in time')), options.patienceMs ?? usualMs).unref()
    })
    try {
      return await Promise.race([answer, late])
    } catch (error) {
      goAlone(error)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  function goAlone(error: unknown): void {
    if (isAway || stopped) return
    isAway = true
    log.warn({ err: error }, 'limits cannot be shared: each process counts for itself')
    askAgain()
  }

  function askAgain(): void {
    asking = setTimeout(() => {
      Promise.race([store.ping(), rejectAfter(askAgainMs)]).then(
        () => {
          if (stopped) return
          isAway = false
          log.info('limits are shared again')
        },
        () => {
          if (!stopped) askAgain()
        },
      )
    }, askAgainMs).unref()
  }

  const leases = openLeases({
    draw(wishes) {
      counters.draws.inc()
      return inTime(store.draw(wishes))
    },
    alone: (accountId, limit) => alone.take(accountId, limit),
    isAway: () => isAway,
  })

  const failures = openFailures(
    (told, windowMs) =>
      inTime(
        store.add(
          told.map(({ key, count }) => ({ key: hashOf(key), count })),
          windowMs,
        ),
      ),
    () => isAway,
  )

  async function begin(keys: readonly TryKey[], windowMs: number): Promise<Begun> {
    if (!isAway) {
      const begun = await inTime(store.begin(keys.map(hashed), windowMs), patienceOfTriesMs).catch(
        () => undefined,
      )
      if (begun) return begun
    }
    return triesAlone.begin(keys.map(hashed), windowMs)
  }

  async function takeBack(counted: readonly Counted[], forgive?: string): Promise<void> {
    const key = forgive === undefined ? undefined : hashOf(forgive)
    // A window is known by its moment, so what was counted in common is left alone by this.
    triesAlone.takeBack(counted, key)
    if (!isAway) await inTime(store.takeBack(counted, key), patienceOfTriesMs).catch(() => undefined)
  }

  return {
    take: leases.take,
    fail: failures.fail,
    tries: { begin, takeBack },
    start() {
      tidying = setInterval(() => {
        if (!isAway) store.tidy?.().catch((error: unknown) => log.warn({ err: error }, 'limits not tidied'))
      }, tidyMs).unref()
    },
    stop() {
      stopped = true
      clearTimeout(asking)
      clearInterval(tidying)
      store.close()
    },
  }
}

/** Names and addresses stay here. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url')
}

const hashed = ({ key, most }: TryKey): TryKey => ({ key: hashOf(key), most })

async function rejectAfter(ms: number): Promise<never> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms).unref()
  })
  throw new Error('no answer in time')
}

function registerMetrics(registry: Registry, isAway: () => boolean) {
  new Gauge({
    name: 'tollgate_limits_shared',
    help: 'Whether limits are counted in common; 0 while each process counts for itself',
    aggregator: 'min',
    registers: [registry],
    collect() {
      this.set(isAway() ? 0 : 1)
    },
  })
  return {
    draws: new Counter({
      name: 'tollgate_limit_draws_total',
      help: 'Questions to the common buckets, each for all accounts that needed tokens at that moment',
      registers: [registry],
    }),
  }
}
