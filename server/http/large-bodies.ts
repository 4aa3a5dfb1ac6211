// Large request bodies take turns: their bytes take memory and decoding them blocks the event loop. One address sends a few at a
// time, and they are decoded one by one. Small bodies never wait.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createFairQueue } from './fair-queue.ts'

/** Almost every call is smaller. */
export const smallBodyBytes = 65_536

interface LargeBodyLimits {
  /** Bodies of one address that are read or decoded at the same time. */
  readonly maxOfAddress: number
  /** Further ones wait; until then the sender's network holds their bytes. */
  readonly maxWaiting: number
}

const defaultLimits: LargeBodyLimits = { maxOfAddress: 16, maxWaiting: 1_000 }

export interface LargeBodies {
  /** Waits until the address may send a large body, and returns a function to call afterwards. Rejects with `QueueFull`. */
  begin(address: string): Promise<() => void>
  /** Runs the work alone in a turn of the event loop. */
  decode<T>(address: string, work: () => T): Promise<T>
}

export function createLargeBodies({ maxOfAddress, maxWaiting } = defaultLimits): LargeBodies {
  // No limit on all addresses together: a few slow senders could use it up.
  const places = createFairQueue({
    maxRunning: Number.POSITIVE_INFINITY,
    maxRunningOfShare: maxOfAddress,
    maxWaiting,
  })
  const decoding = createFairQueue({ maxRunning: 1, maxWaiting: Number.POSITIVE_INFINITY })
  return {
    begin: (address) =>
      new Promise((resolve, reject) => {
        places.run(address, () => new Promise<void>((end) => resolve(end))).catch(reject)
      }),
    decode: (address, work) =>
      decoding.run(address, async () => {
        await nextTurn()
        return work()
      }),
  }
}
