// The guard around one gateway: timeout, bulkhead, circuit breaker and counters.
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
  /** Applies to the call, and separately to the time in the queue. Longer than the timeout of the HTTP call. */
  readonly timeoutMs: number
  readonly maxConcurrent: number
  readonly maxQueued: number
  readonly breakAfterConsecutiveFailures?: number | undefined
  readonly halfOpenAfterMs?: number | undefined
}

/** Counted since start. `calls` is the sum of the five outcomes plus the calls in progress. */
export interface GuardCounters {
  calls: number
  accepted: number
  refused: number
  throttled: number
  not_sent: number
  ambiguous: number
  /** Rejected because the bulkhead was full, or because the breaker was open; included in `not_sent`. */
  shedFull: number
  shedOpen: number
  timeouts: number
  /** How often the breaker opened, including failed trial calls. */
  opened: number
}

export interface GuardError {
  /** Unix milliseconds. */
  readonly at: number
  readonly reason: string
}

type GatewayCall<T> = (signal: AbortSignal) => Promise<Outcome<T>>

export interface Guard {
  /** `half-open` while the trial call runs; `open` until then, even after the pause. */
  readonly state: 'closed' | 'open' | 'half-open'
  readonly lastError: GuardError | undefined
  /** Unix milliseconds of the last accepted call. */
  readonly lastOkAt: number | undefined
  readonly counters: Readonly<GuardCounters>
  /** Never rejects. */
  run<T>(call: GatewayCall<T>): Promise<Outcome<T>>
}

const shedReasons = ['guard_open', 'guard_full', 'guard_queue_timeout'] as const

type ShedReason = (typeof shedReasons)[number]

/** Whether the guard rejected the call, so that the outcome says nothing about the gateway. */
export function isShed(outcome: Outcome<unknown>): boolean {
  return outcome.kind === 'not_sent' && (shedReasons as readonly string[]).includes(outcome.reason)
}

export function createGuard(options: GuardOptions): Guard {
  const slots = bulkhead(options.maxConcurrent, options.maxQueued)
  const breaker = circuitBreaker(
    handleWhenResult((result) => opensBreaker(result as Outcome<unknown>)),
    {
      breaker: new ConsecutiveBreaker(options.breakAfterConsecutiveFailures ?? 5),
      halfOpenAfter: monotonicPause(options.halfOpenAfterMs ?? 10_000),
    },
  )
  const timer = timeout(options.timeoutMs, TimeoutStrategy.Cooperative)
  const recorder = createRecorder()
  const { counters } = recorder
  breaker.onBreak(() => {
    counters.opened += 1
  })

  function shed(reason: ShedReason): NotSent {
    counters[reason === 'guard_open' ? 'shedOpen' : 'shedFull'] += 1
    return { kind: 'not_sent', reason }
  }

  async function callGateway<T>(call: GatewayCall<T>): Promise<Outcome<T>> {
    // cockatiel lets other calls wait for the trial call; trying the next gateway immediately is better for them.
    if (breaker.state === CircuitState.HalfOpen) return shed('guard_open')
    return breaker.execute(() =>
      timer.execute(async ({ signal }) => {
        const outcome = await raceTimeout(call, signal, () => {
          counters.timeouts += 1
        })
        recorder.recordError(outcome)
        return outcome
      }),
    )
  }

  async function pass<T>(call: GatewayCall<T>): Promise<Outcome<T>> {
    try {
      // The queue is outside the breaker: a full queue says nothing about the gateway.
      return await leaveQueueWithin(options.timeoutMs, shed, (isWaiting) =>
        slots.execute(() => (isWaiting() ? callGateway(call) : undefined)),
      )
    } catch (error) {
      if (error instanceof BulkheadRejectedError) return shed('guard_full')
      if (error instanceof BrokenCircuitError) return shed('guard_open')
      return { kind: 'ambiguous', reason: 'guard_failed' }
    }
  }

  return recorder.createGuard(pass, () => STATE_NAMES[breaker.state])
}

/** Only counts: for gateways without a network, where nothing can hang or overload. */
export function createCountingGuard(): Guard {
  const recorder = createRecorder()
  const { signal } = new AbortController()
  async function pass<T>(call: GatewayCall<T>): Promise<Outcome<T>> {
    const outcome = await callWithoutThrowing(call, signal)
    recorder.recordError(outcome)
    return outcome
  }
  return recorder.createGuard(pass, () => 'closed')
}

function createRecorder() {
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

  return {
    counters,
    recordError(outcome: Outcome<unknown>): void {
      if (isGatewayFailure(outcome)) lastError = { at: Date.now(), reason: publicReason(outcome.reason) }
    },
    createGuard(
      pass: <T>(call: GatewayCall<T>) => Promise<Outcome<T>>,
      currentState: () => Guard['state'],
    ): Guard {
      return {
        get state() {
          return currentState()
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
    },
  }
}

const STATE_NAMES = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'half-open',
  [CircuitState.Isolated]: 'open',
} as const

/** A gateway that limits us works: without calls for ten seconds, fewer messages than it allows would be sent. */
function opensBreaker(outcome: Outcome<unknown>): boolean {
  return outcome.kind !== 'throttled' && isGatewayFailure(outcome)
}

// A gateway that refuses a request or throttles a recipient works.
function isGatewayFailure(outcome: Outcome<unknown>): outcome is Ambiguous | NotSent | Throttled {
  if (outcome.kind === 'not_sent') return outcome.onlyThisRequest !== true
  return outcome.kind === 'ambiguous' || (outcome.kind === 'throttled' && outcome.concerns === 'us')
}

/**
 * The call's outcome, or ambiguous after the timeout. The signal aborts first and the call has one turn of the event loop
 * to respond: an HTTP call that was still connecting proves that nothing was sent.
 */
async function raceTimeout<T>(
  call: GatewayCall<T>,
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
    return await Promise.race([callWithoutThrowing(call, signal), timedOut.promise])
  } finally {
    // cockatiel aborts the signal after every call, not only after a timeout.
    signal.removeEventListener('abort', onAbort)
  }
}

async function callWithoutThrowing<T>(call: GatewayCall<T>, signal: AbortSignal): Promise<Outcome<T>> {
  try {
    return await call(signal)
  } catch (error) {
    // The error's message may quote what was sent; its class does not.
    return {
      kind: 'ambiguous',
      reason: `exception:${error instanceof Error ? error.constructor.name : typeof error}`,
    }
  }
}

/** Rejects a call that is still in the queue after the timeout. A call that has started is not affected. */
async function leaveQueueWithin<T>(
  timeoutMs: number,
  shed: (reason: ShedReason) => NotSent,
  enqueue: (isWaiting: () => boolean) => Promise<Outcome<T> | undefined>,
): Promise<Outcome<T>> {
  const timedOut = Promise.withResolvers<undefined>()
  let waiting = true
  const timer = setTimeout(() => {
    waiting = false
    timedOut.resolve(undefined)
  }, timeoutMs)
  const outcome = await Promise.race([
    enqueue(() => {
      clearTimeout(timer)
      return waiting
    }),
    timedOut.promise,
  ]).finally(() => clearTimeout(timer))
  return outcome ?? shed('guard_queue_timeout')
}

// cockatiel measures the pause with Date.now(), so a clock set back by an hour would keep the breaker open for an hour.
// It compares that time with `duration`, which here returns "always" or "never" by the monotonic clock.
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

// Reasons are codes by convention. This removes phone and ID numbers if a gateway breaks the convention.
function publicReason(reason: string): string {
  return reason
    .replace(/[^\w.:\- ]/g, '?')
    .replace(/\d{6,}/g, '#')
    .slice(0, 80)
}
