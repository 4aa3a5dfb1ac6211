// Where limits are counted in common: what every place that several processes share can do.
import type { RateLimit } from './token-bucket.ts'

export interface Wish {
  readonly accountId: number
  readonly limit: RateLimit
  /** Tokens, a whole number. */
  readonly wanted: number
}

export interface Drawn {
  /** How many of the wanted tokens were there; they are taken out. */
  readonly granted: number
  /** What is in the bucket after that, with fractions. */
  readonly left: number
}

/** Something that may be tried `most` times in a window of time. */
export interface TryKey {
  readonly key: string
  readonly most: number
}

/** A try that was counted, with the window it was counted in. */
export interface Counted {
  readonly key: string
  readonly tries: number
  readonly window: number
}

export type Begun = { readonly counted: readonly Counted[] } | { readonly refusedMs: number }

/** Failures under a key, added to those of its window. */
export interface Failures {
  readonly key: string
  readonly count: number
}

export interface Failed {
  /** All of the window so far, and how long it still lasts. */
  readonly tries: number
  readonly leftMs: number
}

export interface LimitStore {
  /** For each wish in turn; no account is named twice. */
  draw(wishes: readonly Wish[]): Promise<readonly Drawn[]>
  /** Counts one try under every key; or, when one of them is full, none, and tells when that one is listened to again. */
  begin(keys: readonly TryKey[], windowMs: number): Promise<Begun>
  /** These tries do not count after all; with `forgive` no earlier ones under that key do either. */
  takeBack(counted: readonly Counted[], forgive: string | undefined): Promise<void>
  /** For each key in turn; none is named twice. */
  add(failures: readonly Failures[], windowMs: number): Promise<readonly Failed[]>
  /** Fails when it is away. */
  ping(): Promise<void>
  /** Throws away what means nothing any more. */
  tidy?(): Promise<void>
  close(): void
}
