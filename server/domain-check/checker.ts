// Checks many addresses: equal ones once, interleaved with other calls, all within one deadline.
import { checkResults, type CheckResult } from '../../contract/domain-check.ts'
import { tryInOrder } from '../upstream/failover.ts'
import type { MonitoredGateway } from './canary.ts'
import type { Address } from './port.ts'
import type { Scheduler } from './scheduler.ts'
import type { VerdictCache } from './verdict-cache.ts'

export interface CheckerOptions {
  readonly gateways: readonly MonitoredGateway[]
  readonly scheduler: Scheduler
  readonly cache: VerdictCache | undefined
  readonly deadlineMs: number
  readonly isStopping: () => boolean
  /** How long after the stop request new gateway calls still start. */
  readonly stopGraceMs: number
  readonly onResult: (result: CheckResult) => void
}

export interface CheckOutcome {
  /** One for each address, in the same order. */
  readonly results: readonly CheckResult[]
  readonly failed: number
  /** Gateway calls that may have reached a provider. */
  readonly gatewayCalls: number
  /** The gateways whose verdicts are among the results. */
  readonly gateways: readonly string[]
}

export interface CheckProgress {
  readonly done: number
  readonly total: number
  /** The results so far, in the order of the addresses. The list keeps changing. */
  readonly results: readonly (CheckResult | undefined)[]
}

export interface CheckOptions {
  /** Ends the check before its deadline. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: CheckProgress) => void) | undefined
}

export interface Checker {
  /** Undefined means an invalid address. */
  check(addresses: readonly (Address | undefined)[], options?: CheckOptions): Promise<CheckOutcome>
}

interface UniqueAddress {
  readonly address: Address
  /** The positions of its result. */
  readonly indexes: number[]
}

export function createChecker(options: CheckerOptions): Checker {
  const { gateways, scheduler, cache } = options
  let stoppingSince: number | undefined

  function isStopped(): boolean {
    if (!options.isStopping()) return false
    stoppingSince ??= performance.now()
    return performance.now() - stoppingSince > options.stopGraceMs
  }

  /** With the cache, which is by host, equal hosts count as equal addresses. */
  function deduplicate(addresses: readonly (Address | undefined)[]): UniqueAddress[] {
    const unique = new Map<string, UniqueAddress>()
    for (const [index, address] of addresses.entries()) {
      if (address === undefined) continue
      const key = cache ? address.host : address.url
      const known = unique.get(key)
      if (known) known.indexes.push(index)
      else unique.set(key, { address, indexes: [index] })
    }
    return [...unique.values()]
  }

  return {
    async check(addresses, { signal, onProgress } = {}) {
      const results: (CheckResult | undefined)[] = addresses.map((address) =>
        address === undefined ? checkResults.invalid : undefined,
      )
      const unique = deduplicate(addresses)
      const usedGateways = new Set<string>()
      let gatewayCalls = 0
      let done = results.filter((result) => result !== undefined).length
      let isOver = false
      const reportProgress = () => onProgress?.({ done, total: addresses.length, results })
      if (done > 0) reportProgress()

      async function checkOne({ address, indexes }: UniqueAddress): Promise<void> {
        const result = await findResult(address)
        // After the deadline every item has its result.
        if (isOver) return
        for (const index of indexes) results[index] = result
        done += indexes.length
        reportProgress()
      }

      async function findResult(address: Address): Promise<CheckResult> {
        const cached = cache?.get(address.host)
        if (cached) return checkResults[cached]
        if (isStopped()) return checkResults.failed
        // A second check is harmless, so every failure leads to the next gateway.
        const { outcome, gateway, attempts } = await tryInOrder(
          gateways,
          (one) => one.check(address),
          () => true,
        )
        gatewayCalls += attempts.filter((attempt) => attempt.outcome.kind !== 'not_sent').length
        if (outcome.kind !== 'accepted') return checkResults.failed
        cache?.set(address.host, outcome.value)
        if (gateway !== undefined) usedGateways.add(gateway)
        return checkResults[outcome.value]
      }

      const batch = scheduler.start(unique.length, (index) => checkOne(unique[index]!))
      await waitFor(batch.finished, options.deadlineMs, signal)
      isOver = true
      batch.stop()

      const final = results.map((result) => result ?? checkResults.failed)
      for (const result of final) options.onResult(result)
      return {
        results: final,
        failed: final.filter((result) => result === checkResults.failed).length,
        gatewayCalls,
        gateways: [...usedGateways],
      }
    },
  }
}

/** Waits for the work, the deadline or the signal, whichever comes first. */
async function waitFor(
  work: Promise<void>,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const timer = setTimeout(end, deadlineMs)
  const onAbort = () => end()
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted) end()
  try {
    await Promise.race([work, ended])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
