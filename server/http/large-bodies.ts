// Large request bodies take turns: their bytes take memory and decoding them blocks the event loop. One address sends a few at a
// time, and they are decoded one by one, with a pause after a long one. Small bodies never wait.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { createFairQueue } from './fair-queue.ts'

/** Almost every call is smaller. */
export const smallBodyBytes = 65_536

/** Chunks of a body that may be small, and how small. A chunk costs a microsecond or more, however few bytes it has. */
const maxSmallChunks = 4_000
const smallChunkBytes = 64

/** Decoding a megabyte of plain text takes less. After more, other calls have as much time before the next body is decoded. */
const maxWithoutPauseMs = 2

/** Whether a body with `Transfer-Encoding: chunked` consists of too many small chunks. */
export function isFragmented(chunks: number, bytes: number): boolean {
  return chunks > maxSmallChunks && bytes < chunks * smallChunkBytes
}

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
  /** Runs the work alone in a turn of the event loop. Half of the time is left to other calls. */
  decode<T>(address: string, work: () => T): Promise<T>
}

export function createLargeBodies({ maxOfAddress, maxWaiting } = defaultLimits): LargeBodies {
  // No limit on all addresses together: a few slow senders could use it up.
  const slots = createFairQueue({
    maxRunning: Number.POSITIVE_INFINITY,
    maxRunningOfShare: maxOfAddress,
    maxWaiting,
  })
  const decoding = createFairQueue({ maxRunning: 1, maxWaiting: Number.POSITIVE_INFINITY })
  return {
    begin: (address) =>
      new Promise((resolve, reject) => {
        slots.run(address, () => new Promise<void>((end) => resolve(end))).catch(reject)
      }),
    decode: (address, work) =>
      new Promise((resolve, reject) => {
        decoding
          .run(address, async () => {
            await nextTurn()
            const start = performance.now()
            resolve(Promise.try(work))
            const ms = performance.now() - start
            if (ms > maxWithoutPauseMs) await sleep(ms)
          })
          .catch(reject)
      }),
  }
}
