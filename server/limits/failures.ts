// Wrong credentials by address, over several processes: counted here at once, told to the others a moment later and many at
// a time. So a flood of invented keys stays away from whatever the processes share.
import { FailureWindows, failuresPerMinute, failureWindowMs } from './token-bucket.ts'
import type { Failed, Failures } from './port.ts'

const shareMs = 100

/** Addresses told of at a time; beyond that they are only counted here. */
const mostShared = 500

/** Addresses that have to wait because of what others counted. */
const mostRefused = 50_000

export function openFailures(
  share: (failures: readonly Failures[], windowMs: number) => Promise<readonly Failed[]>,
  isAway: () => boolean,
): { fail(address: string): number | undefined } {
  const own = new FailureWindows(failuresPerMinute)
  const refused = new Map<string, number>()
  let waiting = new Map<string, number>()

  async function tell(): Promise<void> {
    const batch = [...waiting]
    waiting = new Map()
    const failures = batch.map(([address, count]) => ({ key: `wrong key ${address}`, count }))
    const answer = await share(failures, failureWindowMs)
    const now = performance.now()
    for (const [index, [address]] of batch.entries()) {
      const failed = answer[index]
      if (failed === undefined || failed.tries < failuresPerMinute) continue
      const [oldest] = refused.keys()
      if (refused.size >= mostRefused && oldest !== undefined) refused.delete(oldest)
      refused.set(address, now + failed.leftMs)
    }
  }

  return {
    fail(address) {
      const until = refused.get(address)
      const waitMs = until === undefined ? 0 : until - performance.now()
      if (waitMs > 0) return Math.max(1, Math.ceil(waitMs / 1000))
      if (until !== undefined) refused.delete(address)
      const tooMany = own.fail(address)
      if (tooMany !== undefined || isAway()) return tooMany
      if (waiting.size === 0) setTimeout(() => void tell().catch(() => undefined), shareMs).unref()
      if (waiting.size < mostShared || waiting.has(address)) {
        waiting.set(address, (waiting.get(address) ?? 0) + 1)
      }
      return undefined
    },
  }
}
