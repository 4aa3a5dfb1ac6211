// After the faults: repeats keyed calls, delivers receipts and waits until no operation is held.
import { setTimeout as sleep } from 'node:timers/promises'
import { admin } from '../support/service.ts'
import { outcomeOf, creditsSpent } from './calls.ts'
import type { JournalEntry } from './journal.ts'
import { sendCall } from './load.ts'
import type { TestSystem } from './test-system.ts'

/** Timeout of one call. */
const timeoutMs = 60_000

const parallel = 8

export interface LedgerCheck {
  readonly ok: boolean
  readonly open: number
  readonly operations: number
  readonly problems: readonly string[]
}

export async function settle(system: TestSystem): Promise<LedgerCheck> {
  system.providers.setMode('normal')
  await finishKeyedCalls(system)
  const deadline = performance.now() + system.settleMs
  for (;;) {
    await system.providers.sendReceipts(system.slots[0]!.url)
    const check = await ledgerCheck(system)
    if (check.open === 0 || performance.now() > deadline) return check
    await sleep(500)
  }
}

/** Repeats keyed calls with an unknown outcome until they get a response. */
async function finishKeyedCalls(system: TestSystem): Promise<void> {
  const unfinished = system.journal.entries.filter(
    ({ outcome, idempotencyKey }) => idempotencyKey !== undefined && outcome === 'unknown',
  )
  // After a clock change the keys may have expired: a repeated call would be a new one.
  if (system.epoch() > 0) return
  await inParallel(unfinished, (entry) => finish(system, entry))
}

async function finish(system: TestSystem, entry: JournalEntry): Promise<void> {
  const deadline = performance.now() + system.settleMs
  for (;;) {
    const { url } = system.random.pick(system.slots)
    const reply = await sendCall(entry, url, timeoutMs, entry.customer.key)
    if (typeof reply !== 'string') {
      const outcome = outcomeOf(entry.call, reply)
      if (outcome !== 'running' && outcome !== 'unknown') {
        entry.outcome = outcome
        entry.response = reply
        entry.spent = outcome === 'success' ? creditsSpent(entry.call, reply) : 0
        entry.requestId = undefined
        return
      }
      if (performance.now() > deadline) {
        system.problems.push(
          `${entry.call.subject}: the repeated call still returns ${reply.status} long after the lease`,
        )
        return
      }
    } else if (performance.now() > deadline) {
      system.problems.push(`${entry.call.subject}: the repeated call gets no response`)
      return
    }
    await sleep(250)
  }
}

async function ledgerCheck(system: TestSystem): Promise<LedgerCheck> {
  const result = await admin(system.environment, 'ledger', 'check', '--json')
  if (result.stdout === '') throw new Error(`ledger check printed nothing: ${result.stderr}`)
  return JSON.parse(result.stdout) as LedgerCheck
}

export async function inParallel<T>(items: readonly T[], job: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const worker = async (): Promise<void> => {
    for (const item of rest) await job(item)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}
