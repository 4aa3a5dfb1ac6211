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
  /** Throws while there were too many failures. Asked before a password or a code is looked at. */
  require(keys: readonly GuessKey[]): void
  /** Counts a failure, and takes a little longer the more there were. */
  fail(keys: readonly GuessKey[]): Promise<void>
  /** A success makes up for failures under this key. */
  forget(key: string): void
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

  return {
    require(keys) {
      for (const { key, most } of keys) {
        const window = live(key)
        if (!window || window.count < most) continue
        throw tooMany(Math.max(1, Math.ceil((window.startedAt + windowMs - now()) / 1000)))
      }
    },
    async fail(keys) {
      let worst = 0
      for (const { key } of keys) {
        let window = live(key)
        if (!window) {
          const [oldest] = windows.keys()
          if (windows.size >= mostWatched && oldest !== undefined) windows.delete(oldest)
          window = { count: 0, startedAt: now() }
          windows.set(key, window)
        }
        window.count += 1
        worst = Math.max(worst, window.count)
      }
      if (worst > slowAfter) await sleep(Math.min(slowestMs, (worst - slowAfter) * slowStepMs))
    },
    forget: (key) => void windows.delete(key),
  }
}
