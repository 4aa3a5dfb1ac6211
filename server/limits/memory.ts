// Counting in one process's memory: all there is to do for a single process, the fallback of several, and what the first
// process does for its workers.
import { TokenBuckets } from './token-bucket.ts'
import { twoGenerations } from '../http/generational-cache.ts'
import type { Begun, Counted, Failed, Failures, LimitStore, TryKey } from './port.ts'

interface Window {
  tries: number
  readonly startedAt: number
  readonly endsAt: number
}

/** When more are watched than this, the ones not seen for longest are forgotten. */
const mostWatched = 50_000

export interface MemoryTries {
  begin(keys: readonly TryKey[], windowMs: number): Begun
  takeBack(counted: readonly Counted[], forgive?: string): void
  add(failures: readonly Failures[], windowMs: number): Failed[]
}

export function memoryTries(now: () => number = () => performance.now()): MemoryTries {
  const windows = twoGenerations<string, Window>(mostWatched / 2)

  function live(key: string): Window | undefined {
    const window = windows.get(key)
    return window && now() < window.endsAt ? window : undefined
  }

  function windowOf(key: string, windowMs: number): Window {
    let window = live(key)
    if (!window) {
      window = { tries: 0, startedAt: now(), endsAt: now() + windowMs }
      windows.set(key, window)
    }
    return window
  }

  return {
    begin(keys, windowMs) {
      for (const { key, most } of keys) {
        const window = live(key)
        if (window && window.tries >= most) return { refusedMs: window.endsAt - now() }
      }
      return {
        counted: keys.map(({ key }) => {
          const window = windowOf(key, windowMs)
          window.tries += 1
          return { key, tries: window.tries, window: window.startedAt }
        }),
      }
    },
    takeBack(counted, forgive) {
      for (const { key, window: startedAt } of counted) {
        const window = live(key)
        if (window?.startedAt === startedAt && window.tries > 0) window.tries -= 1
      }
      if (forgive !== undefined) windows.delete(forgive)
    },
    add: (failures, windowMs) =>
      failures.map(({ key, count }) => {
        const window = windowOf(key, windowMs)
        window.tries += count
        return { tries: window.tries, leftMs: window.endsAt - now() }
      }),
  }
}

export function memoryStore(now: () => number = () => performance.now()): LimitStore {
  const buckets = new TokenBuckets()
  const tries = memoryTries(now)
  return {
    draw: async (wishes) =>
      wishes.map(({ accountId, limit, wanted }) => buckets.draw(accountId, limit, wanted, now())),
    begin: async (keys, windowMs) => tries.begin(keys, windowMs),
    takeBack: async (counted, forgive) => tries.takeBack(counted, forgive),
    add: async (failures, windowMs) => tries.add(failures, windowMs),
    ping: async () => undefined,
    close: () => undefined,
  }
}
