// The job that compacts old ledger entries, so that the ledger does not grow indefinitely. compaction-plan.ts has the rules.
import { hourMs } from '../../../contract/time.ts'
import type { Database } from '../../db/database.ts'
import type { Jobs } from '../../jobs.ts'
import { type Chain, compactStep, findChains } from './compaction-store.ts'

export interface Compaction {
  /** Compacts all chains once; returns how many entries were removed. */
  run(signal?: AbortSignal): Promise<number>
  start(jobs: Jobs): void
}

const everyMs = 6 * hourMs
const chainsPerPage = 500

/** With `keepDays` 0 nothing is ever compacted. */
export function createCompaction(db: Database, keepDays: number): Compaction {
  async function compactChain(chain: Chain, signal: AbortSignal | undefined): Promise<number> {
    let removed = 0
    // Each step is a small transaction: calls run between them, and the ledger is consistent after each.
    while (!signal?.aborted) {
      const step = await db.write((tx) => compactStep(tx, chain, keepDays))
      removed += step.removed
      if (!step.more) break
    }
    return removed
  }

  async function run(signal?: AbortSignal): Promise<number> {
    let removed = 0
    let after: Chain | undefined
    while (!signal?.aborted) {
      const chains = await findChains(db, after, chainsPerPage)
      for (const chain of chains) removed += await compactChain(chain, signal)
      after = chains.at(-1)
      if (chains.length < chainsPerPage) break
    }
    return removed
  }

  return {
    run,
    start(jobs) {
      if (keepDays > 0) jobs.every(everyMs, 'compact_ledger', run)
    },
  }
}
