// The accounts that have repeated a call with its Idempotency-Key within the last minute. Only a hint.
//
// Few keys are used a second time, so a call does not look for an earlier one first, and its charge shares a statement with others. A
// key that was used makes that statement fail. So the calls of such an account look first, and are charged in a transaction.
import { minuteMs } from '../../../contract/time.ts'
import { createLazyCache } from '../../lazy-cache.ts'

export interface Repeats {
  has(accountId: number): boolean
  add(accountId: number): void
}

/** About 1 MB. */
const maxAccounts = 10_000

export function createRepeats(): Repeats {
  const accounts = createLazyCache<number, true>({ max: maxAccounts, ttl: minuteMs, ttlResolution: 1_000 })
  return {
    has: (accountId) => accounts().has(accountId),
    add: (accountId) => void accounts().set(accountId, true),
  }
}
