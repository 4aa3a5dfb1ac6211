// Runs items in batches, one batch at a time: items that arrive while a batch runs form the next one.
import { DatabaseUnavailable } from './database.ts'

export interface BatcherOptions<I, O> {
  readonly maxBatch: number
  /** Runs all items in one transaction and returns their results in order. When it throws, nothing was written. */
  readonly runBatch: (items: readonly I[]) => Promise<readonly O[]>
  /** Runs one item in its own transaction, after the batch with it failed. */
  readonly runSingle: (item: I) => Promise<O>
}

interface Pending<I, O> {
  readonly item: I
  readonly resolve: (value: O) => void
  readonly reject: (error: unknown) => void
}

export function createBatcher<I, O>(options: BatcherOptions<I, O>): (item: I) => Promise<O> {
  const { maxBatch, runBatch, runSingle } = options
  let queue: Pending<I, O>[] = []
  let isRunning = false

  async function runAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, maxBatch)
      queue = queue.slice(batch.length)
      try {
        const results = await runBatch(batch.map(({ item }) => item))
        for (const [index, { resolve }] of batch.entries()) resolve(results[index]!)
      } catch (error) {
        // When the connection breaks during COMMIT, the batch may be durable: running it again could write it twice.
        if (error instanceof DatabaseUnavailable) for (const { reject } of batch) reject(error)
        else for (const { item, resolve, reject } of batch) await runSingle(item).then(resolve, reject)
      }
    }
    isRunning = false
  }

  return (item) =>
    new Promise<O>((resolve, reject) => {
      queue.push({ item, resolve, reject })
      if (isRunning) return
      isRunning = true
      // Everything that arrives in this turn of the event loop goes into the first batch.
      setImmediate(() => void runAll())
    })
}
