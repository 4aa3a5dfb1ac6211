// The job that carries old ledger entries over, so that the ledger does not grow for ever. What becomes of them is in carry-plan.ts.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import { carryStep, type Chain, findChains } from './compaction-store.ts'

export interface CarryOverOptions {
  readonly db: Database
  /** 0: everything stays. */
  readonly keepDays: number
  readonly onError: (error: unknown) => void
}

export interface CarryOver {
  /** All chains once; tells how many entries went. */
  carry(): Promise<number>
  start(): void
  stop(): Promise<void>
}

const everyMs = 6 * 3_600_000
const firstAfterMs = 60_000
const chainsAtATime = 500

export function openCarryOver({ db, keepDays, onError }: CarryOverOptions): CarryOver {
  const stopping = new AbortController()
  let loop: Promise<void> = Promise.resolve()

  async function carryChain(chain: Chain): Promise<number> {
    let gone = 0
    // Each step is a small transaction of its own: calls go on between them, and wherever it ends the ledger is whole.
    while (!stopping.signal.aborted) {
      const step = await db.write((tx) => carryStep(tx, chain, keepDays))
      gone += step.gone
      if (!step.more) break
    }
    return gone
  }

  async function carry(): Promise<number> {
    let gone = 0
    let after: Chain | undefined
    while (!stopping.signal.aborted) {
      const chains = await findChains(db, after, chainsAtATime)
      for (const chain of chains) gone += await carryChain(chain)
      after = chains.at(-1)
      if (chains.length < chainsAtATime) break
    }
    return gone
  }

  async function run(): Promise<void> {
    let waitMs = firstAfterMs
    for (;;) {
      await sleep(waitMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
      if (stopping.signal.aborted) return
      await carry().catch(onError)
      waitMs = everyMs
    }
  }

  return {
    carry,
    start() {
      if (keepDays > 0) loop = run()
    },
    async stop() {
      stopping.abort()
      await loop
    },
  }
}
