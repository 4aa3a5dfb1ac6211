// The port to shared limit counters: what every counter that several processes share must implement.
import type { RateLimit } from './token-bucket.ts'

export interface DrawRequest {
  readonly accountId: number
  readonly limit: RateLimit
  /** Tokens, a whole number. */
  readonly wanted: number
}

export interface DrawResult {
  /** How many of the wanted tokens were taken out of the bucket. */
  readonly granted: number
  /** Tokens left in the bucket, with fractions. */
  readonly bucketTokens: number
}

/** Something that may be attempted `max` times per window. */
export interface AttemptKey {
  readonly key: string
  readonly max: number
}

/** An attempt that was counted, and the window it was counted in. */
export interface CountedAttempt {
  readonly key: string
  readonly attempts: number
  /** When the window started. */
  readonly window: number
}

export type AttemptResult =
  | { readonly counted: readonly CountedAttempt[] }
  /** `key` has reached its maximum. */
  | { readonly retryAfterMs: number; readonly key: string }

/** Failures to add to the current window of a key. */
export interface FailureCount {
  readonly key: string
  readonly count: number
}

export interface FailureTotal {
  /** All failures of the window so far. */
  readonly failures: number
  readonly expiresInMs: number
}

export interface LimitStore {
  /** One result per request, in order. No account occurs twice. */
  draw(requests: readonly DrawRequest[]): Promise<readonly DrawResult[]>
  /** Counts one attempt under every key, or, when one key has reached its maximum, counts none. */
  attempt(keys: readonly AttemptKey[], windowMs: number): Promise<AttemptResult>
  /** Removes counted attempts again. `resetKey` also clears all earlier attempts under that key. */
  undo(counted: readonly CountedAttempt[], resetKey: string | undefined): Promise<void>
  /** One total per key, in order. No key occurs twice. */
  addFailures(failures: readonly FailureCount[], windowMs: number): Promise<readonly FailureTotal[]>
  /** Fails while the store is unavailable. */
  ping(): Promise<void>
  /** Deletes counters that no longer have an effect. */
  deleteExpired?(): Promise<void>
  close(): void
}
