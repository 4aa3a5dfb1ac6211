// How often somebody may guess: failures are counted by name and by address, and each further one is answered later.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attempts } from '../limits/limits.ts'
import type { AttemptKey } from '../limits/port.ts'
import { tooMany } from './problem.ts'

const windowMs = 15 * 60_000

const slowAfter = 3
const slowStepMs = 40
const slowestMs = 400

export interface GuessLimits {
  /**
   * Counts a try before it is looked at, so that many at the same moment count as many. Throws when there were too
   * many.
   */
  begin(keys: readonly AttemptKey[]): Promise<Guess>
}

export interface Guess {
  /** It was wrong: the more of these, the later the answer. */
  wrong(): Promise<void>
  /** It was right: it does not count, and with `forgive` neither do the wrong ones under that key. */
  right(forgive?: string): Promise<void>
}

/** `max` of a key is the number of failures per 15 minutes. Each purpose has its own keys. */
export function guessLimits(attempts: Attempts, purpose: string): GuessLimits {
  const named = (key: string) => `${purpose} ${key}`
  return {
    async begin(keys) {
      const begun = await attempts.attempt(
        keys.map(({ key, max }) => ({ key: named(key), max })),
        windowMs,
      )
      if ('retryAfterMs' in begun) throw tooMany(Math.max(1, Math.ceil(begun.retryAfterMs / 1000)))
      const { counted } = begun
      return {
        async wrong() {
          const worst = Math.max(...counted.map((one) => one.attempts))
          if (worst > slowAfter) await sleep(Math.min(slowestMs, (worst - slowAfter) * slowStepMs))
        },
        right: async (forgive) => attempts.undo(counted, forgive === undefined ? undefined : named(forgive)),
      }
    },
  }
}
