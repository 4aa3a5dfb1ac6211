// Group commit for SQLite: jobs that arrive in one turn of the event loop share one transaction and one fsync.
//
// Most jobs succeed, so they run without savepoints. When one throws, the transaction is rolled back and all of them run
// again, each in a savepoint. A job may therefore run twice; only the effects of its last run are kept.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Effects, type OnDatabaseError, runEffects } from './after-commit.ts'
import { DatabaseUnavailable, type Job, type Tx } from './database.ts'
import { isBusy, type SqliteConnection } from './sqlite-connection.ts'
import { queriesFor } from './sqlite-queries.ts'

/** Enough jobs to hide the fsync, few enough to keep the turn short. */
const maxBatch = 512

/** How long a commit waits for another process that is writing. The wait does not block the event loop. */
const maxBusyMs = 5_000

/** Most commits end sooner than the shortest sleep, so the first retries wait for the next turn only. */
const retriesBeforeSleep = 30

interface QueuedJob {
  readonly run: Job<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

type FinishedJob =
  | { readonly job: QueuedJob; readonly value: unknown; readonly effects: Effects | undefined }
  | { readonly job: QueuedJob; readonly error: unknown }

export interface GroupCommitOptions {
  readonly onError?: OnDatabaseError | undefined
  /** FOR THE FAULT SUITE ONLY: resolves before the commit, so that the suite can prove that it notices. */
  readonly acknowledgeEarly?: boolean
}

export interface GroupCommit {
  write<T>(job: Job<T>): Promise<T>
  /** Whether a transaction is open on the connection. */
  isWriting(): boolean
  /** Rejects new jobs, and resolves when the queued ones are finished. */
  stop(): Promise<void>
}

export function createGroupCommit(
  connection: SqliteConnection,
  onCommit: (jobs: number) => void,
  options: GroupCommitOptions,
): GroupCommit {
  const { db } = connection
  /** Of the job that is running. */
  let effects: Effects | undefined
  const tx = {
    ...queriesFor(connection),
    afterCommit: (effect: () => void) => void (effects ??= []).push(effect),
    removeTimeLimit: async () => undefined,
  } as Tx

  let queue: QueuedJob[] = []
  let isScheduled = false
  let isWriting = false
  let isStopped = false
  let onIdle: (() => void) | undefined

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => void flush())
  }

  async function flush(): Promise<void> {
    const batch = queue.splice(0, maxBatch)
    try {
      await begin()
      isWriting = true
      let finished = batch.length === 1 ? await runAlone(batch[0]!) : await runTogether(batch)
      if (options.acknowledgeEarly === true) {
        settle(finished)
        finished = []
        await sleep(50)
      }
      // A single job that failed has rolled back already.
      if (db.isTransaction) connection.run('COMMIT')
      isWriting = false
      onCommit(batch.length)
      settle(finished)
    } catch (error) {
      // The disk is full or the commit failed: nothing of this batch is durable, so every job fails.
      if (db.isTransaction) db.exec('ROLLBACK')
      isWriting = false
      const cause = unavailable(error)
      for (const { reject } of batch) reject(cause)
    }
    isScheduled = false
    if (queue.length > 0) schedule()
    else onIdle?.()
  }

  async function begin(): Promise<void> {
    const deadline = performance.now() + maxBusyMs
    for (let tries = 1; ; tries += 1) {
      try {
        db.exec('BEGIN IMMEDIATE')
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error
        if (tries <= retriesBeforeSleep) await nextTurn()
        else await sleep(1 + Math.random() * 3)
      }
    }
  }

  async function run(job: QueuedJob): Promise<FinishedJob> {
    effects = undefined
    const value = await job.run(tx)
    return { job, value, effects }
  }

  async function runAlone(job: QueuedJob): Promise<FinishedJob[]> {
    try {
      return [await run(job)]
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      return [{ job, error }]
    }
  }

  async function runTogether(batch: readonly QueuedJob[]): Promise<FinishedJob[]> {
    const finished: FinishedJob[] = []
    try {
      // Jobs share one connection, so they run one after the other.
      for (const job of batch) finished.push(await run(job))
      return finished
    } catch (error) {
      // Some errors (disk full) end the whole transaction.
      if (!db.isTransaction) throw error
      connection.run('ROLLBACK')
      await begin()
      return runInSavepoints(batch)
    }
  }

  async function runInSavepoints(batch: readonly QueuedJob[]): Promise<FinishedJob[]> {
    const finished: FinishedJob[] = []
    for (const job of batch) {
      connection.run('SAVEPOINT job')
      try {
        finished.push(await run(job))
      } catch (error) {
        if (!db.isTransaction) throw error
        connection.run('ROLLBACK TO job')
        finished.push({ job, error })
      }
      connection.run('RELEASE job')
    }
    return finished
  }

  function settle(finished: readonly FinishedJob[]): void {
    for (const end of finished) {
      if ('error' in end) end.job.reject(end.error)
      else {
        runEffects(end.effects, options.onError)
        end.job.resolve(end.value)
      }
    }
  }

  return {
    write<T>(job: Job<T>): Promise<T> {
      if (isStopped) return Promise.reject(new DatabaseUnavailable('the database is closed'))
      return new Promise<T>((resolve, reject) => {
        queue.push({ run: job, resolve: resolve as (value: unknown) => void, reject })
        schedule()
      })
    },
    isWriting: () => isWriting,
    async stop() {
      isStopped = true
      if (isScheduled) await new Promise<void>((resolve) => (onIdle = resolve))
    },
  }
}

function unavailable(error: unknown): DatabaseUnavailable {
  const reason = error instanceof Error && 'errstr' in error ? String(error.errstr) : 'write failed'
  return new DatabaseUnavailable(`SQLite: ${reason}`, error)
}
