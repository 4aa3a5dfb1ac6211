// The guard around one gateway: how long, how many at once, and a pause for a gateway that keeps failing.

import {
  BrokenCircuitError,
  BulkheadRejectedError,
  CircuitState,
  ConsecutiveBreaker,
  TimeoutStrategy,
  bulkhead,
  circuitBreaker,
  handleWhenResult,
  timeout,
} from 'cockatiel'
import type { IBackoff } from 'cockatiel'

import type { Ambiguous, NotSent, Outcome, Throttled } from './outcome.ts'

export interface GuardOptions {
  readonly name: string
  /** For one call, and once more for the waiting before it. Longer than the gateway's own timeout for its HTTP call. */
  readonly timeoutMs: number
  readonly maxConcurrent: number
  readonly maxQueued: number
  readonly breakAfterConsecutiveFailures?: number | undefined
  readonly halfOpenAfterMs?: number | undefined
}

/** Counted since start. `calls` is the sum of the five outcomes (less those under way). */
export interface GuardCounters {
  calls: number
  accepted: number
  refused: number
  throttled: number
  not_sent: number
  ambiguous: number
  /** Of the outcomes above, those the guard gave itself. */
  shedFull: number
  shedOpen: number
  timeouts: number
  /** How often the breaker opened, a failed trial call included. */
  opened: number
}

export interface GuardError {
  /** Unix milliseconds. */
  readonly at: number
  readonly reason: string
}

export interface Guard {
  readonly name: string
  /** `half-open` while the one trial call is under way; `open` until then, even when the pause is over. */
  readonly state: 'closed' | 'open' | 'half-open'
  readonly lastError: GuardError | undefined
  /** Unix milliseconds of the last call that was accepted. */
  readonly lastOkAt: number | undefined
  readonly counters: Readonly<GuardCounters>
  /** Never rejects. */
  run<T>(call: (signal: AbortSignal) => Promise<Outcome<T>>): Promise<Outcome<T>>
}

export function createGuard(options: GuardOptions): Guard {
  const slots = bulkhead(options.maxConcurrent, options.maxQueued)
  const breaker = circuitBreaker(
    handleWhenResult((result) => isGatewayFailure(result as Outcome<unknown>)),
    {
      breaker: new ConsecutiveBreaker(options.breakAfterConsecutiveFailures ?? 5),
      halfOpenAfter: monotonicPause(options.halfOpenAfterMs ?? 10_000),
    },
  )
  const timer = timeout(options.timeoutMs, TimeoutStrategy.Cooperative)
  const counters: GuardCounters = {
    calls: 0,
    accepted: 0,
    refused: 0,
    throttled: 0,
    not_sent: 0,
    ambiguous: 0,
    shedFull: 0,
    shedOpen: 0,
    timeouts: 0,
    opened: 0,
  }
  let lastError: GuardError | undefined
  let lastOkAt: number | undefined

  breaker.onBreak(() => {
    counters.opened += 1
  })

  function shedFull(reason: string): NotSent {
    counters.shedFull += 1
    return { kind: 'not_sent', reason }
  }

  function shedOpen(): NotSent {
    counters.shedOpen += 1
    return { kind: 'not_sent', reason: 'guard_open' }
  }

  async function callGateway<T>(call: (signal: AbortSignal) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    // cockatiel would let everyone wait for the trial call; asking the next gateway at once serves them better.
    if (breaker.state === CircuitState.HalfOpen) return shedOpen()
    return breaker.execute(() =>
      timer.execute(async ({ signal }) => {
        const outcome = await firstOf(call, signal, () => {
          counters.timeouts += 1
        })
        if (isGatewayFailure(outcome)) lastError = { at: Date.now(), reason: publicReason(outcome.reason) }
        return outcome
      }),
    )
  }

  async function pass<T>(call: (signal: AbortSignal) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    try {
      // Waiting is outside the breaker: a full house says nothing about the gateway.
      return await withPatience(options.timeoutMs, shedFull, (stillWanted) =>
        slots.execute(() => (stillWanted() ? callGateway(call) : undefined)),
      )
    } catch (error) {
      if (error instanceof BulkheadRejectedError) return shedFull('guard_full')
      if (error instanceof BrokenCircuitError) return shedOpen()
      return { kind: 'ambiguous', reason: 'guard_failed' }
    }
  }

  return {
    name: options.name,
    get state() {
      return STATE_NAMES[breaker.state]
    },
    get lastError() {
      return lastError
    },
    get lastOkAt() {
      return lastOkAt
    },
    counters,
    async run(call) {
      counters.calls += 1
      const outcome = await pass(call)
      counters[outcome.kind] += 1
      if (outcome.kind === 'accepted') lastOkAt = Date.now()
      return outcome
    },
  }
}

const STATE_NAMES = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'half-open',
  [CircuitState.Isolated]: 'open',
} as const

// A refusal, or a throttled number, shows a gateway at work.
function isGatewayFailure(outcome: Outcome<unknown>): outcome is Ambiguous | NotSent | Throttled {
  if (outcome.kind === 'not_sent') return outcome.onlyThisMessage !== true
  return outcome.kind === 'ambiguous' || (outcome.kind === 'throttled' && outcome.concerns === 'us')
}

/**
 * The call's outcome, or ambiguous when the time is over. At the timeout the call hears the signal first and has one turn
 * of the event loop to answer: an HTTP call that was still connecting proves that nothing was sent.
 */
async function firstOf<T>(
  call: (signal: AbortSignal) => Promise<Outcome<T>>,
  signal: AbortSignal,
  onTimeout: () => void,
): Promise<Outcome<T>> {
  const timedOut = Promise.withResolvers<Outcome<T>>()
  const onAbort = (): void => {
    onTimeout()
    setImmediate(() => timedOut.resolve({ kind: 'ambiguous', reason: 'guard_timeout' }))
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([caught(call, signal), timedOut.promise])
  } finally {
    // cockatiel aborts the signal after every call, in time or not.
    signal.removeEventListener('abort', onAbort)
  }
}

async function caught<T>(
  call: (signal: AbortSignal) => Promise<Outcome<T>>,
  signal: AbortSignal,
): Promise<Outcome<T>> {
  try {
    return await call(signal)
  } catch (error) {
    // The message may quote what was sent; the class of the error does not.
    return {
      kind: 'ambiguous',
      reason: `exception:${error instanceof Error ? error.constructor.name : typeof error}`,
    }
  }
}

/** Gives up a call that has not come out of the queue in time. Once it has begun it is left alone. */
async function withPatience<T>(
  patienceMs: number,
  shed: (reason: string) => NotSent,
  enqueue: (stillWanted: () => boolean) => Promise<Outcome<T> | undefined>,
): Promise<Outcome<T>> {
  const tooLong = Promise.withResolvers<undefined>()
  let wanted = true
  const timer = setTimeout(() => {
    wanted = false
    tooLong.resolve(undefined)
  }, patienceMs)
  const outcome = await Promise.race([
    enqueue(() => {
      clearTimeout(timer)
      return wanted
    }),
    tooLong.promise,
  ]).finally(() => clearTimeout(timer))
  return outcome ?? shed('guard_queue_timeout')
}

// cockatiel measures the pause with Date.now(), so that a clock set back by an hour would keep a gateway closed for an
// hour. It compares that with `duration`, which may as well say "always" or "never" by the monotonic clock.
function monotonicPause(pauseMs: number): { next: () => IBackoff<unknown> } {
  const next = (): IBackoff<unknown> => {
    const openedAt = performance.now()
    return {
      get duration() {
        return performance.now() - openedAt < pauseMs ? Infinity : -Infinity
      },
      next,
    }
  }
  return { next }
}

// Reasons are codes by agreement. Should one ever hold more, a number that could be a phone or an ID stays out anyway.
function publicReason(reason: string): string {
  return reason
    .replace(/[^\w.:\- ]/g, '?')
    .replace(/\d{6,}/g, '#')
    .slice(0, 80)
}
