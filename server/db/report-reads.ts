// Reads in a thread, for lists and exports on SQLite: node:sqlite is synchronous, and a search through 20,000 rows would
// make every paid call wait for it.
import { Worker } from 'node:worker_threads'
import type { Queries, Value } from './database.ts'
import { kyselyForConnection } from './kysely-connection.ts'
import type { ReportRequest, ReportResponse } from './report-thread.ts'
import { openConnection, type SqliteConnection } from './sqlite-connection.ts'

export interface ReportReads {
  all<R>(sql: string, values?: readonly Value[]): Promise<R[]>
  /** Replaces the reads of other queries by those of the thread. */
  over(queries: Queries): Queries
  close(): Promise<void>
}

export function openReportReads(file: string): ReportReads {
  let thread: Worker | undefined
  let lastId = 0
  const pending = new Map<number, PromiseWithResolvers<readonly unknown[]>>()
  const received: ReportResponse[] = []
  let hasLoaded = false
  let connection: SqliteConnection | undefined

  /**
   * In a turn of the event loop of its own: Node.js emits up to a thousand messages in one turn, as long as the next one arrives
   * while the last one is handled. So reads that follow each other quickly would keep every other request waiting.
   */
  function deliver(from: Worker): void {
    for (const { id, rows, error } of received.splice(0)) {
      const waiter = pending.get(id)
      pending.delete(id)
      if (rows) waiter?.resolve(rows)
      else waiter?.reject(new Error(error))
    }
    // An idle thread must not keep the process running.
    if (pending.size === 0) from.unref()
  }

  /** Starts with the first read, and again after a crash. */
  function startThread(): Worker {
    const started = new Worker(new URL('./report-thread.ts', import.meta.url), {
      workerData: file,
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
    })
    started.on('message', (response: ReportResponse) => {
      hasLoaded = true
      if (received.length === 0) setImmediate(deliver, started)
      received.push(response)
    })
    const onEnd = (cause: unknown) => {
      deliver(started)
      if (thread === started) thread = undefined
      for (const waiter of pending.values()) waiter.reject(new Error('the report thread ended', { cause }))
      pending.clear()
    }
    started.on('error', onEnd)
    started.on('exit', onEnd)
    return started
  }

  /** In this thread, because the file of the other one is gone: the release was replaced while the service runs. */
  function readHere<R>(sql: string, values: readonly Value[]): R[] {
    connection ??= openConnection(file, 2_000)
    return connection.all<R>(sql, values)
  }

  async function all<R>(sql: string, values: readonly Value[] = []): Promise<R[]> {
    if (connection) return readHere<R>(sql, values)
    thread ??= startThread()
    lastId += 1
    const waiter = Promise.withResolvers<readonly unknown[]>()
    pending.set(lastId, waiter)
    thread.ref()
    thread.postMessage({ id: lastId, sql, values } satisfies ReportRequest)
    try {
      return (await waiter.promise) as R[]
    } catch (error) {
      if (hasLoaded) throw error
      return readHere<R>(sql, values)
    }
  }

  return {
    all,
    over: (queries) => ({
      ...queries,
      all,
      one: async <R>(sql: string, values?: readonly Value[]) => (await all<R>(sql, values))[0],
      kysely: kyselyForConnection('sqlite', async (sql, values) => {
        const rows = await all(sql, values as readonly Value[])
        return { rows, changed: rows.length }
      }),
    }),
    async close() {
      await Promise.allSettled([...pending.values()].map(({ promise }) => promise))
      await thread?.terminate()
      connection?.db.close()
    },
  }
}
