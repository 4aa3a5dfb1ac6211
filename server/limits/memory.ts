// Counters in the memory of one process: for a single process, as the fallback of several, and in the primary for its workers.
import { LRUCache } from 'lru-cache'
import type {
  AttemptKey,
  AttemptResult,
  CountedAttempt,
  FailureCount,
  FailureTotal,
  LimitStore,
} from './port.ts'
import { TokenBuckets } from './token-bucket.ts'

interface AttemptWindow {
  attempts: number
  readonly startedAt: number
  readonly endsAt: number
}

/** Above this number of windows of one length, the least recently used ones are evicted. */
const maxWindows = 50_000

export interface MemoryAttempts {
  attempt(keys: readonly AttemptKey[], windowMs: number): AttemptResult
  undo(counted: readonly CountedAttempt[], resetKey?: string): void
  addFailures(failures: readonly FailureCount[], windowMs: number): FailureTotal[]
}

export function createMemoryAttempts(now: () => number = () => performance.now()): MemoryAttempts {
  // By length, so that visits and wrong keys from many networks, counted per minute, do not evict wrong passwords.
  const windowsByLength = new Map<number, LRUCache<string, AttemptWindow>>()

  function windowsOf(windowMs: number): LRUCache<string, AttemptWindow> {
    let windows = windowsByLength.get(windowMs)
    if (!windows) windowsByLength.set(windowMs, (windows = new LRUCache({ max: maxWindows })))
    return windows
  }

  function findCurrent(windows: LRUCache<string, AttemptWindow>, key: string): AttemptWindow | undefined {
    const window = windows.get(key)
    return window && now() < window.endsAt ? window : undefined
  }

  function getOrStart(key: string, windowMs: number): AttemptWindow {
    const windows = windowsOf(windowMs)
    let window = findCurrent(windows, key)
    if (!window) {
      window = { attempts: 0, startedAt: now(), endsAt: now() + windowMs }
      windows.set(key, window)
    }
    return window
  }

  return {
    attempt(keys, windowMs) {
      for (const { key, max } of keys) {
        const window = findCurrent(windowsOf(windowMs), key)
        if (window && window.attempts >= max) return { retryAfterMs: window.endsAt - now(), key }
      }
      return {
        counted: keys.map(({ key }) => {
          const window = getOrStart(key, windowMs)
          window.attempts += 1
          return { key, attempts: window.attempts, window: window.startedAt }
        }),
      }
    },
    undo(counted, resetKey) {
      for (const windows of windowsByLength.values()) {
        for (const { key, window: startedAt } of counted) {
          const window = findCurrent(windows, key)
          if (window?.startedAt === startedAt && window.attempts > 0) window.attempts -= 1
        }
        if (resetKey !== undefined) windows.delete(resetKey)
      }
    },
    addFailures: (failures, windowMs) =>
      failures.map(({ key, count }) => {
        const window = getOrStart(key, windowMs)
        window.attempts += count
        return { failures: window.attempts, expiresInMs: window.endsAt - now() }
      }),
  }
}

export function createMemoryStore(now: () => number = () => performance.now()): LimitStore {
  const buckets = new TokenBuckets()
  const attempts = createMemoryAttempts(now)
  return {
    draw: async (requests) =>
      requests.map(({ accountId, limit, wanted }) => buckets.draw(accountId, limit, wanted, now())),
    attempt: async (keys, windowMs) => attempts.attempt(keys, windowMs),
    undo: async (counted, resetKey) => attempts.undo(counted, resetKey),
    addFailures: async (failures, windowMs) => attempts.addFailures(failures, windowMs),
    ping: async () => undefined,
    close: () => undefined,
  }
}
