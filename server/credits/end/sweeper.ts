// Decides what a crash or an ambiguous upstream left open, when its lease is over. It never sends anything again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import type { Credits } from '../credits.ts'
import type { OpenOperation } from '../operation.ts'
import { forgetAllExpired } from '../charge/store.ts'
import { findOpen, findOverdue, shortenLeases } from '../store.ts'

/**
 * A product's own way of deciding: it may ask its gateway and must end the operation, in one transaction with its own
 * records. Operations of actions without one are refunded.
 */
export type Decide = (operation: OpenOperation) => Promise<void>

export interface SweeperOptions {
  readonly db: Database
  readonly credits: Credits
  readonly sweepMs: number
  /** No operation is held for longer than this at a time. */
  readonly longestLeaseMs: number
  /** By action, `sms.send` for instance. */
  readonly deciders: ReadonlyMap<string, Decide>
  readonly onError: (error: unknown, operation?: OpenOperation) => void
}

export interface Sweeper {
  /** One round; tells how many operations it looked at. */
  sweep(): Promise<number>
  /** Decides one overdue operation now, for a caller that waits for it. */
  decide(operationId: number): Promise<void>
  start(): void
  stop(): Promise<void>
}

const perRound = 200

/** Looking for keys nobody can ask for any more reads many rows, so it is done seldom. */
const forgetEveryMs = 3_600_000

export function openSweeper(options: SweeperOptions): Sweeper {
  const { db, credits, deciders } = options
  const stopping = new AbortController()
  let loop: Promise<void> = Promise.resolve()
  let forgotAt = performance.now()

  async function decideOne(operation: OpenOperation): Promise<void> {
    const decide = deciders.get(operation.action)
    if (decide) return decide(operation)
    const result = await db.write((tx) =>
      credits.end(tx, { operationId: operation.id, end: { state: 'refunded' } }),
    )
    if (result.givenBack > 0) {
      credits.onMoved?.({ kind: 'refund', apiType: operation.api_type, amount: result.givenBack })
    }
  }

  async function sweep(): Promise<number> {
    await db.write((tx) => shortenLeases(tx, options.longestLeaseMs))
    const overdue = await findOverdue(db, perRound)
    for (const operation of overdue) {
      try {
        await decideOne(operation)
      } catch (error) {
        options.onError(error, operation)
      }
    }
    return overdue.length
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const seen = await sweep()
        // A full round means there is more: go on at once.
        if (seen === perRound) continue
        if (performance.now() - forgotAt > forgetEveryMs) {
          await db.write(forgetAllExpired)
          forgotAt = performance.now()
        }
      } catch (error) {
        options.onError(error)
      }
      await sleep(options.sweepMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  return {
    sweep,
    async decide(operationId) {
      const operation = await findOpen(db, operationId)
      if (operation) await decideOne(operation)
    },
    start() {
      loop = run()
    },
    async stop() {
      stopping.abort()
      await loop
    },
  }
}
