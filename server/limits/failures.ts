// Wrong credentials by address across several processes: counted locally first, shared ten times a second in batches.
// So a flood of invented keys puts no load on the shared store.
import { createLazyCache } from '../lazy-cache.ts'
import type { FailureCount, FailureTotal } from './port.ts'
import { type CallLimits, FailureWindows, failuresPerMinute, failureWindowMs } from './token-bucket.ts'

const shareIntervalMs = 100

/** Addresses per batch; further ones are counted only locally. */
const maxShared = 500

/** Addresses that are blocked because of what other processes counted. */
const maxBlocked = 50_000

export function createSharedFailures(
  share: (failures: readonly FailureCount[], windowMs: number) => Promise<readonly FailureTotal[]>,
  isAway: () => boolean,
): Pick<CallLimits, 'fail' | 'isBlocked'> {
  const local = new FailureWindows(failuresPerMinute)
  const blocked = createLazyCache<string, true>({ max: maxBlocked })
  let unshared = new Map<string, number>()

  async function shareBatch(): Promise<void> {
    const batch = [...unshared]
    unshared = new Map()
    const failures = batch.map(([address, count]) => ({ key: `wrong key ${address}`, count }))
    const totals = await share(failures, failureWindowMs)
    for (const [index, [address]] of batch.entries()) {
      const total = totals[index]
      if (total === undefined || total.failures < failuresPerMinute) continue
      blocked().set(address, true, { ttl: Math.max(1, total.expiresInMs) })
    }
  }

  return {
    isBlocked: (address) => blocked().has(address) || local.isBlocked(address),
    fail(address) {
      const waitMs = blocked().getRemainingTTL(address)
      if (waitMs > 0) return Math.ceil(waitMs / 1000)
      const retryAfter = local.fail(address)
      if (retryAfter !== undefined || isAway()) return retryAfter
      if (unshared.size === 0)
        setTimeout(() => void shareBatch().catch(() => undefined), shareIntervalMs).unref()
      if (unshared.size < maxShared || unshared.has(address)) {
        unshared.set(address, (unshared.get(address) ?? 0) + 1)
      }
      return undefined
    },
  }
}
