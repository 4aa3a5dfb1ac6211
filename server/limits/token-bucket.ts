// How often somebody may call: token buckets for accounts, plain windows for wrong credentials. Monotonic time, bounded memory.
import { twoGenerations } from '../http/generational-cache.ts'

export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

export interface Taken {
  readonly allowed: boolean
  /** Calls that could follow at once. */
  readonly left: number
  /** Whole seconds until a call is allowed again (or until the bucket is full, when one is allowed now). */
  readonly resetSeconds: number
}

/** How often callers may come. A single process answers at once; several ask each other now and then. */
export interface CallLimits {
  take(accountId: number, limit: RateLimit): Taken | Promise<Taken>
  /** Counts a wrong credential. When there were too many, tells in how many seconds the next one is listened to. */
  fail(address: string): number | undefined
}

/** Wrong credentials an address may show in a minute before it is told to wait. */
export const failuresPerMinute = 60

interface Bucket {
  tokens: number
  at: number
}

/** When more are watched than this, the ones not seen for longest are forgotten; a forgotten bucket is a full one. */
const mostWatched = 100_000

export class TokenBuckets {
  readonly #buckets = twoGenerations<number, Bucket>(mostWatched / 2)

  /** Takes up to `wanted` whole tokens out at once; `left` has fractions. */
  draw(id: number, limit: RateLimit, wanted: number, now: number): { granted: number; left: number } {
    const bucket = this.#filled(id, limit, now)
    const granted = Math.min(wanted, Math.floor(bucket.tokens))
    bucket.tokens -= granted
    return { granted, left: bucket.tokens }
  }

  #filled(id: number, limit: RateLimit, now: number): Bucket {
    let bucket = this.#buckets.get(id)
    if (bucket) {
      bucket.tokens = Math.min(limit.burst, bucket.tokens + ((now - bucket.at) / 1000) * limit.perSecond)
      bucket.at = now
    } else {
      bucket = { tokens: limit.burst, at: now }
      this.#buckets.set(id, bucket)
    }
    return bucket
  }

  take(id: number, limit: RateLimit, now: number = performance.now()): Taken {
    const bucket = this.#filled(id, limit, now)
    if (bucket.tokens < 1) {
      return {
        allowed: false,
        left: 0,
        resetSeconds: Math.max(1, Math.ceil((1 - bucket.tokens) / limit.perSecond)),
      }
    }
    bucket.tokens -= 1
    return {
      allowed: true,
      left: Math.floor(bucket.tokens),
      resetSeconds: Math.ceil((limit.burst - bucket.tokens) / limit.perSecond),
    }
  }
}

interface Window {
  count: number
  readonly startedAt: number
}

export const failureWindowMs = 60_000

/** Counts failures by address; only failures ask it, so a right key is never slowed by it. */
export class FailureWindows {
  readonly #windows = twoGenerations<string, Window>(mostWatched / 2)
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** Counts one failure. When there were too many, tells in how many seconds the next one is listened to. */
  fail(address: string, now: number = performance.now()): number | undefined {
    let window = this.#windows.get(address)
    if (!window || now - window.startedAt >= failureWindowMs) {
      window = { count: 0, startedAt: now }
      this.#windows.set(address, window)
    }
    window.count += 1
    if (window.count <= this.#most) return undefined
    return Math.max(1, Math.ceil((window.startedAt + failureWindowMs - now) / 1000))
  }
}
