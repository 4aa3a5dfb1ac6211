// Decides held operations whose lease has expired, after a crash or an ambiguous upstream call. It never sends anything.
import type { Database } from '../../db/database.ts'
import type { Jobs } from '../../jobs.ts'
import { pruneExpiredKeys } from '../charge/store.ts'
import type { Credits } from '../credits.ts'
import type { HeldOperation } from '../operation.ts'
import { findHeld, findOverdue, shortenLeases } from '../store.ts'

/**
 * Decides an overdue operation of one product: it may query the gateway, and ends the operation in one transaction with
 * the product's rows. Operations of actions without a decider are refunded.
 */
export type Decide = (operation: HeldOperation) => Promise<void>

export interface SweeperOptions {
  readonly db: Database
  readonly credits: Credits
  /** No lease is longer. */
  readonly maxLeaseMs: number
  /** By action, for example `sms.send`. */
  readonly deciders: ReadonlyMap<string, Decide>
  readonly onError: (error: unknown, operation: HeldOperation) => void
}

export interface Sweeper {
  /** Decides up to 200 overdue operations; returns how many it decided. */
  sweep(): Promise<number>
  /** Decides one operation now, for a call that waits for it. */
  decide(operationId: number): Promise<void>
  start(jobs: Jobs, sweepMs: number): void
}

const maxPerRound = 200

/** Finding expired keys reads many rows, so it runs less often. */
const pruneEveryMs = 3_600_000

export function createSweeper({ db, credits, maxLeaseMs, deciders, onError }: SweeperOptions): Sweeper {
  async function decideOne(operation: HeldOperation): Promise<void> {
    const decide = deciders.get(operation.action)
    if (decide) await decide(operation)
    else await db.write((tx) => credits.end(tx, { operationId: operation.id, end: { state: 'refunded' } }))
  }

  async function sweep(): Promise<number> {
    await db.write((tx) => shortenLeases(tx, maxLeaseMs))
    let decided = 0
    for (const operation of await findOverdue(db, maxPerRound)) {
      try {
        await decideOne(operation)
        decided += 1
      } catch (error) {
        onError(error, operation)
      }
    }
    return decided
  }

  return {
    sweep,
    async decide(operationId) {
      const operation = await findHeld(db, operationId)
      if (operation) await decideOne(operation)
    },
    start(jobs, sweepMs) {
      jobs.every(sweepMs, 'sweeper', async (signal) => {
        // A full round means that there may be more.
        while (!signal.aborted && (await sweep()) === maxPerRound);
      })
      jobs.every(pruneEveryMs, 'idempotency key pruning', async (signal) => {
        while (!signal.aborted && (await db.write(pruneExpiredKeys)));
      })
    },
  }
}
