// Limits guesses of passwords and codes: failures are counted by key, and responses to repeated ones are delayed.
import { setTimeout as sleep } from 'node:timers/promises'
import { minuteMs } from '../../contract/time.ts'
import type { Attempts } from '../limits/limits.ts'
import type { AttemptKey } from '../limits/port.ts'
import { tooMany } from './problem.ts'

const windowMs = 15 * minuteMs

const slowAfter = 3
const slowStepMs = 40
const slowestMs = 400

export interface GuessLimits {
  /**
   * Counts an attempt before it is checked, so that simultaneous ones all count. Throws when there were too many.
   */
  begin(keys: readonly AttemptKey[]): Promise<Guess>
}

export interface Guess {
  /** The guess was wrong. The more wrong guesses, the longer the delay. */
  wrong(): Promise<void>
  /** The guess was right and does not count; with `forgive`, neither do the wrong ones under that key. */
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
