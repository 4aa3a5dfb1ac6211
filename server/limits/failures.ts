// Wrong credentials by address across several processes: counted locally first, shared ten times a second in batches.
// So a flood of invented keys puts no load on the shared store.
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
  const blockedUntil = new Map<string, number>()
  let unshared = new Map<string, number>()

  async function shareBatch(): Promise<void> {
    const batch = [...unshared]
    unshared = new Map()
    const failures = batch.map(([address, count]) => ({ key: `wrong key ${address}`, count }))
    const totals = await share(failures, failureWindowMs)
    const now = performance.now()
    for (const [index, [address]] of batch.entries()) {
      const total = totals[index]
      if (total === undefined || total.failures < failuresPerMinute) continue
      const [oldest] = blockedUntil.keys()
      if (blockedUntil.size >= maxBlocked && oldest !== undefined) blockedUntil.delete(oldest)
      blockedUntil.set(address, now + total.expiresInMs)
    }
  }

  return {
    isBlocked(address) {
      return (blockedUntil.get(address) ?? 0) > performance.now() || local.isBlocked(address)
    },
    fail(address) {
      const until = blockedUntil.get(address)
      const waitMs = until === undefined ? 0 : until - performance.now()
      if (waitMs > 0) return Math.max(1, Math.ceil(waitMs / 1000))
      if (until !== undefined) blockedUntil.delete(address)
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
