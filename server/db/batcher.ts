// Runs items in batches, each batch in one transaction. Items that arrive while a batch runs form the next one.
import { type Database, DatabaseUnavailable, type Tx } from './database.ts'
import { parallelWriters } from './dialect.ts'

export interface BatcherOptions<I, O> {
  readonly maxBatch: number
  /** Items with the same number never run in two batches at the same time. */
  readonly laneOf: (item: I) => number
  /** Returns the results in order. When it throws, every item runs again in a batch of one. */
  readonly run: (tx: Tx, items: readonly I[]) => Promise<readonly O[]>
}

interface Pending<I, O> {
  readonly item: I
  readonly resolve: (value: O) => void
  readonly reject: (error: unknown) => void
}

export function createBatcher<I, O>(db: Database, options: BatcherOptions<I, O>): (item: I) => Promise<O> {
  const lanes = Array.from({ length: parallelWriters(db) }, () => createLane(db, options))
  return (item) => lanes[options.laneOf(item) % lanes.length]!(item)
}

function createLane<I, O>(db: Database, { maxBatch, run }: BatcherOptions<I, O>): (item: I) => Promise<O> {
  const queue: Pending<I, O>[] = []
  let isRunning = false

  async function runBatch(): Promise<void> {
    let batch: Pending<I, O>[] | undefined
    // Taken when the transaction begins, so that items that arrive meanwhile still join, and only once: a job may run again.
    const take = () => (batch ??= queue.splice(0, maxBatch))
    try {
      const results = await db.write((tx) =>
        run(
          tx,
          take().map(({ item }) => item),
        ),
      )
      for (const [index, { resolve }] of take().entries()) resolve(results[index]!)
    } catch (error) {
      // When the connection breaks during COMMIT, the batch may be durable: running it again could write it twice.
      if (error instanceof DatabaseUnavailable || take().length === 1) {
        for (const { reject } of take()) reject(error)
      } else await runSingly(take())
    }
  }

  async function runSingly(batch: readonly Pending<I, O>[]): Promise<void> {
    const runs = batch.map(({ item, resolve, reject }) => async () => {
      await db.write(async (tx) => (await run(tx, [item]))[0]!).then(resolve, reject)
    })
    // SQLite commits jobs of the same time together. On PostgreSQL they would take all connections of the pool.
    if (db.engine === 'sqlite') await Promise.all(runs.map((runOne) => runOne()))
    else for (const runOne of runs) await runOne()
  }

  async function runAll(): Promise<void> {
    while (queue.length > 0) await runBatch()
    isRunning = false
  }

  return (item) =>
    new Promise<O>((resolve, reject) => {
      queue.push({ item, resolve, reject })
      if (isRunning) return
      isRunning = true
      void runAll()
    })
}
