// Large request bodies take turns: their bytes take memory and decoding them blocks the event loop. One address sends a few at a
// time, and they are decoded one by one, with a pause after a long one. Small bodies wait only if those of their address took long.
import { createLazyCache } from '../lazy-cache.ts'
import { tooFrequent } from './errors.ts'
import { createFairQueue } from './fair-queue.ts'
import { nextTurn } from './memoize-per-tick.ts'

/** Almost every call is smaller. */
export const smallBodyBytes = 65_536

/** Chunks of a body that may be small, and how small. A chunk costs a microsecond or more, however few bytes it has. */
const maxSmallChunks = 4_000
const smallChunkBytes = 64

/** Decoding some hundred kilobytes takes longer. Other calls then have as much time before the next body is decoded. */
const maxWithoutPauseMs = 0.5

/** The shortest pause after a megabyte: reading it and the garbage collection take time too, before and after it is decoded. */
const pausePerMegabyteMs = 20

/** What small bodies of one address may take to decode at once, and the part of a core that they may use all the time. */
const defaultBurstMs = 50
const freeShare = 0.2
/** Addresses that are counted, the last ones. */
const maxCounted = 10_000
/** Faster ones are not counted: almost every call. */
const minCountedMs = 0.2

/** Whether a body with `Transfer-Encoding: chunked` consists of too many small chunks. */
export function isFragmented(chunks: number, bytes: number): boolean {
  return chunks > maxSmallChunks && bytes < chunks * smallChunkBytes
}

interface LargeBodyLimits {
  /** Bodies of one address that are read or decoded at the same time. */
  readonly maxOfAddress: number
  /** Further ones wait, and are not read meanwhile. */
  readonly maxWaiting: number
  /** Small bodies of addresses that used too much time; further ones are refused. */
  readonly maxSmallWaiting?: number
  readonly burstMs?: number
}

const defaultLimits: LargeBodyLimits = { maxOfAddress: 16, maxWaiting: 1_000 }

export interface LargeBodies {
  /** Waits until the address may send a large body, and returns a function to call afterwards. Rejects with `QueueFull`. */
  begin(address: string): Promise<() => void>
  /** Runs the work alone in a turn of the event loop. At least half of the time is left to other calls. */
  decode<T>(address: string, bytes: number, work: () => T): Promise<T>
  /** Runs the work at once, or in turn if small bodies of this address took long. Rejects with a 429 if too many wait. */
  decodeSmall<T>(addressOf: () => string, work: () => T): Promise<T>
}

export function createLargeBodies(limits = defaultLimits): LargeBodies {
  const { maxOfAddress, maxWaiting, maxSmallWaiting = 200, burstMs = defaultBurstMs } = limits
  // No limit on all addresses together: a few slow senders could use it up.
  const slots = createFairQueue({
    maxRunning: Number.POSITIVE_INFINITY,
    maxRunningOfShare: maxOfAddress,
    maxWaiting,
  })
  const decoding = createFairQueue({ maxRunning: 1, maxWaiting: Number.POSITIVE_INFINITY })
  const spent = createTimeSpent(burstMs)
  let smallWaiting = 0

  function decode<T>(
    address: string,
    bytes: number,
    work: () => T,
    maxWithoutPause = maxWithoutPauseMs,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      decoding
        .run(address, async () => {
          await nextTurn()
          const start = performance.now()
          resolve(Promise.try(work))
          const ms = performance.now() - start
          const pauseMs = Math.max(ms > maxWithoutPause ? ms : 0, (bytes / 1_048_576) * pausePerMegabyteMs)
          if (pauseMs > 0) await new Promise((end) => setTimeout(end, pauseMs))
        })
        .catch(reject)
    })
  }

  return {
    begin: (address) =>
      new Promise((resolve, reject) => {
        slots.run(address, () => new Promise<void>((end) => resolve(end))).catch(reject)
      }),
    decode: (address, bytes, work) => decode(address, bytes, work),
    async decodeSmall(addressOf, work) {
      if (!spent.isTooMuch(addressOf)) {
        const start = performance.now()
        try {
          return work()
        } finally {
          spent.add(addressOf, performance.now() - start)
        }
      }
      if (smallWaiting >= maxSmallWaiting) throw tooFrequent(1)
      smallWaiting += 1
      return decode(addressOf(), 0, work, 0).finally(() => (smallWaiting -= 1))
    },
  }
}

/** How long small bodies of each address took, minus the share that is always free. */
function createTimeSpent(burstMs: number) {
  const byAddress = createLazyCache<string, { readonly ms: number; readonly at: number }>({ max: maxCounted })

  function msOf(address: string, now: number): number {
    const spent = byAddress().get(address)
    return spent ? Math.max(0, spent.ms - (now - spent.at) * freeShare) : 0
  }

  return {
    isTooMuch: (addressOf: () => string) =>
      byAddress().size > 0 && msOf(addressOf(), performance.now()) > burstMs,
    add(addressOf: () => string, ms: number): void {
      if (ms < minCountedMs) return
      const address = addressOf()
      const now = performance.now()
      const total = msOf(address, now) + ms
      byAddress().set(address, { ms: total, at: now })
    },
  }
}
