// Starts work in turns: so much per turn of the event loop, clients one after another. Work that is waiting does not delay other
// requests.
import { createFairQueue } from './fair-queue.ts'
import { nextTurn } from './memoize-per-tick.ts'

export interface Turns {
  /** Calls `start` when it is the turn of the network: immediately, unless much is waiting. Rejects with `QueueFull`. */
  run(network: string, start: () => void): Promise<void>
}

export function createTurns(startsPerTurn: number): Turns {
  const queue = createFairQueue({ maxRunning: startsPerTurn, maxWaiting: 2_000, maxWaitMs: 10_000 })
  return {
    run: (network, start) =>
      queue.run(network, () => {
        start()
        return nextTurn()
      }),
  }
}
