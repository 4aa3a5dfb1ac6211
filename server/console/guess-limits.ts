// How often somebody may guess: failures are counted by name and by address, and each further one is answered later.
import { setTimeout as sleep } from 'node:timers/promises'
import { tooMany } from './problem.ts'

interface Window {
  count: number
  readonly startedAt: number
}

const windowMs = 15 * 60_000

/** When more are watched than this, the ones not seen for longest are forgotten. */
const mostWatched = 50_000

const slowAfter = 3
const slowStepMs = 40
const slowestMs = 400

export interface GuessLimits {
  /**
   * Counts a try before it is looked at, so that many at the same moment count as many. Throws when there were too
   * many.
   */
  begin(keys: readonly GuessKey[]): Guess
}

export interface Guess {
  /** It was wrong: the more of these, the later the answer. */
  wrong(): Promise<void>
  /** It was right: it does not count, and with `forgive` neither do the wrong ones under that key. */
  right(forgive?: string): void
}

export interface GuessKey {
  readonly key: string
  /** Failures in a quarter of an hour. */
  readonly most: number
}

export function guessLimits(now: () => number = () => performance.now()): GuessLimits {
  const windows = new Map<string, Window>()

  function live(key: string): Window | undefined {
    const window = windows.get(key)
    if (window && now() - window.startedAt < windowMs) return window
    windows.delete(key)
    return undefined
  }

  function windowOf(key: string): Window {
    let window = live(key)
    if (!window) {
      const [oldest] = windows.keys()
      if (windows.size >= mostWatched && oldest !== undefined) windows.delete(oldest)
      window = { count: 0, startedAt: now() }
      windows.set(key, window)
    }
    return window
  }

  return {
    begin(keys) {
      for (const { key, most } of keys) {
        const window = live(key)
        if (!window || window.count < most) continue
        throw tooMany(Math.max(1, Math.ceil((window.startedAt + windowMs - now()) / 1000)))
      }
      const counted = keys.map(({ key }) => windowOf(key))
      for (const window of counted) window.count += 1
      return {
        async wrong() {
          const worst = Math.max(...counted.map((window) => window.count))
          if (worst > slowAfter) await sleep(Math.min(slowestMs, (worst - slowAfter) * slowStepMs))
        },
        right(forgive) {
          for (const window of counted) window.count -= 1
          if (forgive !== undefined) windows.delete(forgive)
        },
      }
    },
  }
}
