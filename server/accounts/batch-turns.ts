// Calls with long lists take turns: a batch takes as long as a hundred calls, so the batches of one account would delay all others.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { tooFrequent } from '../http/errors.ts'
import { createFairQueue, type FairQueueOptions, QueueFull } from '../http/fair-queue.ts'

/** Runs the work when it is the account's turn. Throws 429 when too many wait. */
export type RunBatch = <T>(accountId: number, work: () => Promise<T>) => Promise<T>

/** Few at a time, because each occupies the event loop for long. A waiting call uses only the memory of its body. */
export function createBatchTurns(limits: FairQueueOptions): RunBatch {
  const inTurn = createAccountTurns(limits)
  return (accountId, work) =>
    inTurn(accountId, async () => {
      // Other requests that arrived meanwhile are read first.
      await nextTurn()
      return work()
    })
}

/** For other work in which accounts take turns. */
export function createAccountTurns(options: FairQueueOptions): RunBatch {
  const queue = createFairQueue(options)
  return async (accountId, work) => {
    try {
      return await queue.run(String(accountId), work)
    } catch (error) {
      throw error instanceof QueueFull ? tooFrequent(1) : error
    }
  }
}
