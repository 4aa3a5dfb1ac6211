// Calls of a network whose calls are often refused start in turns. A refusal does not wait for the database, so a flood of them
// would fill each turn of the event loop, and a paid call needs several turns.
import { createLazyCache } from '../lazy-cache.ts'
import { createTurns } from './turns.ts'

/** A call that is refused takes up to a tenth of a millisecond. */
const startsPerTurn = 8

/** Refused calls of a network at once and per second that do not matter. */
const burst = 100
const perSecond = 50

/** Counted beyond the burst: so long after its last refused call, a network is served as before. */
const maxMsOver = 200

/** The last networks that had a call refused. */
const maxNetworks = 10_000

export interface RefusedCalls {
  /** Counts a refused call. */
  count(network: string): void
  /** Undefined if the network may call at once. Rejects with `QueueFull`. */
  turnOf(networkOf: () => string): Promise<void> | undefined
}

export function createRefusedCalls(now: () => number = () => performance.now()): RefusedCalls {
  const counts = createLazyCache<string, { readonly count: number; readonly at: number }>({
    max: maxNetworks,
  })
  const turns = createTurns(startsPerTurn)
  let hasCounted = false

  function countOf(network: string): number {
    const found = counts().get(network)
    return found ? Math.max(0, found.count - ((now() - found.at) / 1000) * perSecond) : 0
  }

  return {
    count(network) {
      hasCounted = true
      const count = Math.min(countOf(network) + 1, burst + (maxMsOver / 1000) * perSecond)
      counts().set(network, { count, at: now() })
    },
    turnOf(networkOf) {
      if (!hasCounted) return undefined
      const network = networkOf()
      return countOf(network) < burst
        ? undefined
        : new Promise((resolve, reject) => {
            turns.run(network, resolve).catch(reject)
          })
    },
  }
}
