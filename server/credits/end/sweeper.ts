// Decides held operations whose lease has expired, after a crash or an ambiguous upstream call. It never sends anything.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import type { Jobs } from '../../jobs.ts'
import { pruneExpiredKeys } from '../charge/store.ts'
import type { Credits } from '../credits.ts'
import type { HeldOperation } from '../operation.ts'
import { findHeld, findOverdue, findOverdueOf, shortenLeases } from '../store.ts'

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
  /** How long a decider may take; after that the operation waits for the next round. */
  readonly decideTimeoutMs?: number
}

export interface Sweeper {
  /** One round of every job; returns how many operations were decided. */
  sweep(): Promise<number>
  /** Decides one operation now, for a call that waits for it. */
  decide(operationId: number): Promise<void>
  start(jobs: Jobs, sweepMs: number): void
}

const refundsPerRound = 1_000

/** A decider may wait for a provider, so a round is short, and one account cannot fill it. */
const decisionsPerRound = { limit: 64, perAccount: 16 }

const defaultDecideTimeoutMs = 30_000

/**
 * How much longer than the interval of the sweeper an operation may be held after its lease: a round that waits for a provider
 * may be running, and so may the decision of the operation itself.
 */
export const overdueSlackMs = 2 * defaultDecideTimeoutMs + 5_000

const pruneEveryMs = 600_000

export function createSweeper(options: SweeperOptions): Sweeper {
  const { db, credits, maxLeaseMs, deciders, onError, decideTimeoutMs = defaultDecideTimeoutMs } = options

  async function refund({ id, account_id: accountId }: HeldOperation): Promise<void> {
    await credits.end({ accountId, operationId: id, end: { state: 'refunded', ifOverdue: true } })
  }

  /** Returns how many operations were decided without an error. */
  async function decideAll(operations: readonly HeldOperation[], decide: Decide): Promise<number> {
    let decided = 0
    await Promise.all(
      operations.map((operation) =>
        decide(operation).then(
          () => (decided += 1),
          (error: unknown) => onError(error, operation),
        ),
      ),
    )
    return decided
  }

  /** Operations without a decider. */
  async function refundOverdue(): Promise<number> {
    await db.write((tx) => shortenLeases(tx, maxLeaseMs))
    return decideAll(await findOverdue(db, [...deciders.keys()], refundsPerRound), refund)
  }

  /** Operations of one action, all at the same time. */
  async function decideOverdue(action: string): Promise<number> {
    const decide = deciders.get(action) ?? refund
    const overdue = await findOverdueOf(db, action, decisionsPerRound)
    return decideAll(overdue, (operation) => withTimeout(decide(operation), decideTimeoutMs))
  }

  return {
    async sweep() {
      const rounds = [refundOverdue(), ...[...deciders.keys()].map(decideOverdue)]
      return (await Promise.all(rounds)).reduce((sum, decided) => sum + decided, 0)
    },
    async decide(operationId) {
      const operation = await findHeld(db, operationId)
      if (!operation) return
      const decide = deciders.get(operation.action) ?? refund
      await withTimeout(decide(operation), decideTimeoutMs)
    },
    start(jobs, sweepMs) {
      jobs.every(sweepMs, 'sweeper', async (signal) => {
        // A full round means that there may be more.
        while (!signal.aborted && (await refundOverdue()) === refundsPerRound);
      })
      // Each action has its own job: a provider that does not respond delays only its own operations.
      for (const action of deciders.keys()) {
        jobs.every(sweepMs, `sweeper_${action}`, async (signal) => {
          while (!signal.aborted && (await decideOverdue(action)) >= decisionsPerRound.perAccount);
        })
      }
      jobs.every(pruneEveryMs, 'prune_idempotency_keys', (signal) => pruneExpiredKeys(db, signal))
    },
  }
}

/** The work is not stopped when its time is over; what it writes then changes nothing that was decided meanwhile. */
async function withTimeout(work: Promise<void>, timeoutMs: number): Promise<void> {
  const over = new AbortController()
  const timeout = sleep(timeoutMs, undefined, { signal: over.signal, ref: false }).then(
    () => {
      throw new Error('the decision took too long')
    },
    () => undefined,
  )
  try {
    await Promise.race([work, timeout])
  } finally {
    over.abort()
  }
}
