// Asks the gateways about many addresses: equal ones once, in turns with other calls, all within one deadline.
import { checkResults, type CheckResult } from '../../contract/domain-check.ts'
import { tryInOrder } from '../upstream/failover.ts'
import type { MonitoredGateway } from './canary.ts'
import type { Address, CheckVerdict } from './port.ts'
import type { Schedule } from './schedule.ts'
import type { VerdictCache } from './verdict-cache.ts'

export interface CheckerOptions {
  readonly gateways: readonly MonitoredGateway[]
  readonly schedule: Schedule
  readonly cache: VerdictCache | undefined
  readonly deadlineMs: number
  readonly isStopping: () => boolean
  /** How long after that new questions are still asked. */
  readonly stoppingGraceMs: number
  readonly onResult: (result: CheckResult) => void
}

export interface Checked {
  /** One for each address, in the same order. */
  readonly results: readonly CheckResult[]
  readonly failed: number
  /** Questions put to gateways. */
  readonly asked: number
  /** Those whose verdicts are among the results. */
  readonly gateways: readonly string[]
}

export interface Progress {
  readonly done: number
  readonly total: number
  /** The results so far, in the order of the addresses. Goes on changing. */
  readonly results: readonly (CheckResult | undefined)[]
}

export interface CheckOptions {
  /** Ends the check before its deadline. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export interface Checker {
  /** Undefined stands for what is no address. */
  check(addresses: readonly (Address | undefined)[], options?: CheckOptions): Promise<Checked>
}

interface Question {
  readonly address: Address
  /** Where its answer goes. */
  readonly places: number[]
}

export function createChecker(options: CheckerOptions): Checker {
  const { gateways, schedule, cache } = options
  let stoppingSince: number | undefined

  function isOutOfTime(): boolean {
    if (!options.isStopping()) return false
    stoppingSince ??= performance.now()
    return performance.now() - stoppingSince > options.stoppingGraceMs
  }

  /** What goes to the platform once and answers for all its places. A cache by host makes the host the question. */
  function questionsOf(addresses: readonly (Address | undefined)[]): Question[] {
    const questions = new Map<string, Question>()
    for (const [place, address] of addresses.entries()) {
      if (address === undefined) continue
      const key = cache ? address.host : address.url
      const known = questions.get(key)
      if (known) known.places.push(place)
      else questions.set(key, { address, places: [place] })
    }
    return [...questions.values()]
  }

  return {
    async check(addresses, { signal, onProgress } = {}) {
      const results: (CheckResult | undefined)[] = addresses.map((address) =>
        address === undefined ? checkResults.invalid : undefined,
      )
      const questions = questionsOf(addresses)
      const used = new Set<string>()
      let asked = 0
      let done = results.filter((result) => result !== undefined).length
      let over = false

      const answer = ({ places }: Question, result: CheckResult) => {
        // What comes after the deadline comes too late: the item has its result.
        if (over) return
        for (const place of places) results[place] = result
        done += places.length
        onProgress?.({ done, total: addresses.length, results })
      }
      if (done > 0) onProgress?.({ done, total: addresses.length, results })

      const batch = schedule.begin(questions.length, async (index) => {
        const question = questions[index]!
        const { address } = question
        const known = cache?.find(address.host)
        if (known) return answer(question, checkResults[known])
        if (isOutOfTime()) return answer(question, checkResults.failed)
        // A second question harms nobody, so the next gateway is asked whatever the reason.
        const { outcome, gateway, attempts } = await tryInOrder(
          gateways,
          (one) => one.check(address),
          () => true,
        )
        asked += attempts.filter((attempt) => attempt.outcome.kind !== 'not_sent').length
        if (outcome.kind !== 'accepted') return answer(question, checkResults.failed)
        const verdict: CheckVerdict = outcome.value
        cache?.keep(address.host, verdict)
        if (gateway !== undefined) used.add(gateway)
        answer(question, checkResults[verdict])
      })
      await firstOf(batch.finished, options.deadlineMs, signal)
      over = true
      batch.stop()

      const final = results.map((result) => result ?? checkResults.failed)
      for (const result of final) options.onResult(result)
      return {
        results: final,
        failed: final.filter((result) => result === checkResults.failed).length,
        asked,
        gateways: [...used],
      }
    },
  }
}

/** Waits for the work, the deadline or the signal, whichever comes first, and leaves no timer behind. */
async function firstOf(
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
