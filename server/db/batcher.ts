// A lane carries things to the database in batches, one batch in flight: what arrives meanwhile makes the next one.
import { DatabaseUnavailable } from './database.ts'

export interface LaneWork<I, O> {
  readonly batchLimit: number
  /** All in one transaction, answered in their order. What it throws means that nothing has happened. */
  readonly together: (items: readonly I[]) => Promise<readonly O[]>
  /** One in a transaction of its own, after a batch with it was refused. */
  readonly alone: (item: I) => Promise<O>
}

interface Pending<I, O> {
  readonly item: I
  readonly resolve: (value: O) => void
  readonly reject: (error: unknown) => void
}

export function openLane<I, O>({ batchLimit, together, alone }: LaneWork<I, O>): (item: I) => Promise<O> {
  let queue: Pending<I, O>[] = []
  let running = false

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, batchLimit)
      queue = queue.slice(batch.length)
      try {
        const values = await together(batch.map(({ item }) => item))
        for (const [index, { resolve }] of batch.entries()) resolve(values[index]!)
      } catch (error) {
        // A connection lost at COMMIT leaves open whether the batch holds: running it again could do everything twice.
        if (error instanceof DatabaseUnavailable) for (const { reject } of batch) reject(error)
        else for (const pending of batch) await alone(pending.item).then(pending.resolve, pending.reject)
      }
    }
    running = false
  }

  return (item) =>
    new Promise<O>((resolve, reject) => {
      queue.push({ item, resolve, reject })
      if (running) return
      running = true
      // Everything that arrives in this turn of the event loop goes into the first batch.
      setImmediate(() => void drain())
    })
}
