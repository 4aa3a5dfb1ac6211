// Limits in the memory of one process: token buckets for accounts, windows for wrong credentials. Monotonic time, bounded memory.
import { minuteMs } from '../../contract/time.ts'
import { createLazyCache } from '../lazy-cache.ts'

export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

export interface RateLimitResult {
  readonly allowed: boolean
  /** Calls that could follow immediately. */
  readonly remaining: number
  /** Whole seconds until the next call is allowed, or, if this one is allowed, until the bucket is full. */
  readonly resetSeconds: number
}

export interface CallLimits {
  /** Takes one token. Several processes may have to draw from the shared bucket. */
  take(accountId: number, limit: RateLimit): Promise<RateLimitResult>
  /** Counts a wrong credential. Returns the seconds to wait if the address has reached the maximum. */
  fail(address: string): number | undefined
  /** Whether the address has reached the maximum; counts nothing. */
  isBlocked(address: string): boolean
}

/** Wrong credentials that one address may send per minute. */
export const failuresPerMinute = 60

interface Bucket {
  tokens: number
  updatedAt: number
}

/** Above this number, the least recently used counters are evicted. An evicted bucket counts as full. */
const maxEntries = 100_000

export class TokenBuckets {
  readonly #buckets = createLazyCache<number, Bucket>({ max: maxEntries })

  /** Takes out up to `wanted` whole tokens. */
  draw(id: number, limit: RateLimit, wanted: number, now: number): { granted: number; bucketTokens: number } {
    const bucket = this.#refill(id, limit, now)
    const granted = Math.min(wanted, Math.floor(bucket.tokens))
    bucket.tokens -= granted
    return { granted, bucketTokens: bucket.tokens }
  }

  #refill(id: number, limit: RateLimit, now: number): Bucket {
    let bucket = this.#buckets().get(id)
    if (bucket) {
      const elapsed = now - bucket.updatedAt
      bucket.tokens = Math.min(limit.burst, bucket.tokens + (elapsed / 1000) * limit.perSecond)
      bucket.updatedAt = now
    } else {
      bucket = { tokens: limit.burst, updatedAt: now }
      this.#buckets().set(id, bucket)
    }
    return bucket
  }

  take(id: number, limit: RateLimit, now: number = performance.now()): RateLimitResult {
    const bucket = this.#refill(id, limit, now)
    if (bucket.tokens < 1) {
      return {
        allowed: false,
        remaining: 0,
        resetSeconds: Math.max(1, Math.ceil((1 - bucket.tokens) / limit.perSecond)),
      }
    }
    bucket.tokens -= 1
    return {
      allowed: true,
      remaining: Math.floor(bucket.tokens),
      resetSeconds: Math.ceil((limit.burst - bucket.tokens) / limit.perSecond),
    }
  }
}

interface FailureWindow {
  count: number
  readonly startedAt: number
}

export const failureWindowMs = minuteMs

/** Counts failures by address. Only failed calls use it, so a correct key is never delayed. */
export class FailureWindows {
  readonly #windows = createLazyCache<string, FailureWindow>({ max: maxEntries })
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** Counts one failure. Returns the seconds to wait if there were too many. */
  fail(address: string, now: number = performance.now()): number | undefined {
    let window = this.#windows().get(address)
    if (!window || now - window.startedAt >= failureWindowMs) {
      window = { count: 0, startedAt: now }
      this.#windows().set(address, window)
    }
    window.count += 1
    if (window.count <= this.#max) return undefined
    return Math.max(1, Math.ceil((window.startedAt + failureWindowMs - now) / 1000))
  }

  isBlocked(address: string, now: number = performance.now()): boolean {
    const window = this.#windows().get(address)
    return window !== undefined && now - window.startedAt < failureWindowMs && window.count >= this.#max
  }
}
