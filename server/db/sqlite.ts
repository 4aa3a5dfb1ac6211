// The embedded engine: SQLite through node:sqlite, with group commit.
//
// Write jobs that arrive in one turn of the event loop share one transaction, each in a savepoint of its own, and are
// answered after the one fsync. Reads go through a second connection, so they see only what is committed.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Database,
  DatabaseUnavailable,
  type Job,
  type Queries,
  type Tx,
  type Value,
} from './database.ts'
import { type Executed, kyselyOver } from './kysely-over.ts'

const now = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`

/** How many jobs one commit carries at most: enough to hide the fsync, few enough to keep the turn short. */
const batchLimit = 512

/** How long a commit waits for another process that is writing. Waiting is asynchronous: the event loop goes on. */
const busyLimitMs = 5_000

/** Prepared statements are kept per connection; console queries come in many shapes, so there is a bound. */
const preparedLimit = 500

interface QueuedJob {
  readonly run: Job<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

type Ended =
  | { readonly job: QueuedJob; readonly value: unknown }
  | { readonly job: QueuedJob; readonly error: unknown }

export interface SqliteOptions {
  /** FOR THE FAULT SUITE ONLY: answers before the commit, so that the suite can show that it notices. */
  readonly acknowledgeEarly?: boolean
}

export function openSqlite(file: string, options: SqliteOptions = {}): Database {
  const writer = openConnection(file, 0)
  const reader = openConnection(file, 2_000)
  reader.db.exec('PRAGMA query_only = ON')
  const readVersion = reader.db.prepare('PRAGMA data_version')

  const reads = queriesOver(reader)
  const tx = queriesOver(writer) as Tx
  const stats: Database['stats'] = { onCommit: undefined }

  let queue: QueuedJob[] = []
  let scheduled = false
  let closed = false
  let idle: (() => void) | undefined

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(() => void flush())
  }

  async function flush(): Promise<void> {
    const batch = queue.length <= batchLimit ? queue : queue.slice(0, batchLimit)
    queue = queue.length <= batchLimit ? [] : queue.slice(batchLimit)
    try {
      await begin(writer.db)
      const ended = batch.length === 1 ? await runAlone(batch[0]!) : await runTogether(batch)
      if (options.acknowledgeEarly === true) {
        tellEnds(ended)
        await sleep(50)
      }
      // A single job that failed has rolled the transaction back already.
      if (writer.db.isTransaction) writer.db.exec('COMMIT')
      stats.onCommit?.(batch.length)
      tellEnds(ended)
    } catch (error) {
      // Nothing of this batch is durable: a full disk or a failed commit answers every job alike.
      if (writer.db.isTransaction) writer.db.exec('ROLLBACK')
      const cause = unavailable(error)
      for (const job of batch) job.reject(cause)
    }
    scheduled = false
    if (queue.length > 0) schedule()
    else idle?.()
  }

  async function runAlone(job: QueuedJob): Promise<Ended[]> {
    try {
      return [{ job, value: await job.run(tx) }]
    } catch (error) {
      if (writer.db.isTransaction) writer.db.exec('ROLLBACK')
      return [{ job, error }]
    }
  }

  async function runTogether(batch: readonly QueuedJob[]): Promise<Ended[]> {
    const ended: Ended[] = []
    for (const job of batch) {
      writer.run('SAVEPOINT job')
      try {
        // Jobs share one connection: they must run one after the other.
        ended.push({ job, value: await job.run(tx) })
      } catch (error) {
        // Some errors (disk full) end the whole transaction, and with it the jobs before this one.
        if (!writer.db.isTransaction) throw error
        writer.run('ROLLBACK TO job')
        ended.push({ job, error })
      }
      writer.run('RELEASE job')
    }
    return ended
  }

  return {
    ...reads,
    stats,
    direct: {
      file,
      all: <R>(sql: string, values: readonly Value[] = []) =>
        reader.prepare(sql).all(...(values as SQLInputValue[])) as R[],
      one: <R>(sql: string, values: readonly Value[] = []) =>
        reader.prepare(sql).get(...(values as SQLInputValue[])) as R | undefined,
      dataVersion: () => (readVersion.get() as { data_version: number }).data_version,
    },
    write<T>(job: Job<T>): Promise<T> {
      if (closed) return Promise.reject(new DatabaseUnavailable('the database is closed'))
      return new Promise<T>((resolve, reject) => {
        queue.push({ run: job, resolve: resolve as (value: unknown) => void, reject })
        schedule()
      })
    },
    async checkWritable() {
      await this.write(async (t) => {
        await t.run(
          `INSERT INTO setting (name, value) VALUES ('heartbeat', '') ON CONFLICT (name) DO UPDATE SET value = ''`,
        )
      })
    },
    async snapshot(read) {
      // A connection of its own: the view stays where it was opened, and nobody waits for it.
      const connection = openConnection(file, 2_000)
      try {
        connection.db.exec('BEGIN')
        return await read({ all: queriesOver(connection).all, rows: (table) => rowsOf(connection, table) })
      } finally {
        connection.db.close()
      }
    },
    async close() {
      closed = true
      if (scheduled) await new Promise<void>((resolve) => (idle = resolve))
      reader.db.close()
      writer.db.close()
    },
  }
}

function tellEnds(ended: readonly Ended[]): void {
  for (const end of ended) {
    if ('error' in end) end.job.reject(end.error)
    else end.job.resolve(end.value)
  }
}

interface Connection {
  readonly db: DatabaseSync
  prepare(sql: string): StatementSync
  run(sql: string): void
}

function openConnection(file: string, busyTimeoutMs: number): Connection {
  // Opening may meet another process that is recovering or migrating, so the set-up itself waits longer.
  const db = new DatabaseSync(file, { timeout: 5_000 })
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('PRAGMA synchronous = FULL')
  db.exec('PRAGMA foreign_keys = ON')
  db.exec('PRAGMA cache_size = -16000')
  db.exec('PRAGMA journal_size_limit = 67108864')
  // Random codes touch a page each: four times the usual log before it is folded back writes each page far less often.
  db.exec('PRAGMA wal_autocheckpoint = 4000')
  db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  const prepared = new Map<string, StatementSync>()
  function prepare(sql: string): StatementSync {
    let statement = prepared.get(sql)
    if (!statement) {
      if (prepared.size >= preparedLimit) prepared.clear()
      statement = db.prepare(sql)
      prepared.set(sql, statement)
    }
    return statement
  }
  return { db, prepare, run: (sql) => void prepare(sql).run() }
}

function queriesOver(connection: Connection): Queries {
  return {
    engine: 'sqlite',
    now,
    kysely: kyselyOver('sqlite', async (sql, values): Promise<Executed> => {
      const statement = connection.prepare(sql)
      const parameters = values as SQLInputValue[]
      if (statement.columns().length > 0) {
        const rows = statement.all(...parameters)
        return { rows, changed: rows.length }
      }
      return { rows: [], changed: Number(statement.run(...parameters).changes) }
    }),
    all: async <R>(sql: string, values: readonly Value[] = []) =>
      connection.prepare(sql).all(...(values as SQLInputValue[])) as R[],
    one: async <R>(sql: string, values: readonly Value[] = []) =>
      connection.prepare(sql).get(...(values as SQLInputValue[])) as R | undefined,
    run: async (sql, values = []) =>
      Number(connection.prepare(sql).run(...(values as SQLInputValue[])).changes),
    // RETURNING goes through a table of its own, which makes an insert half as slow again.
    insert: async (sql, values = []) =>
      Number(connection.prepare(sql).run(...(values as SQLInputValue[])).lastInsertRowid),
  }
}

async function* rowsOf(connection: Connection, table: string): AsyncGenerator<Record<string, Value>[]> {
  let page: Record<string, Value>[] = []
  for (const row of connection.db.prepare(`SELECT * FROM "${table}"`).iterate()) {
    page.push(row as Record<string, Value>)
    if (page.length === 5_000) {
      yield page
      page = []
    }
  }
  if (page.length > 0) yield page
}

async function begin(db: DatabaseSync): Promise<void> {
  const deadline = performance.now() + busyLimitMs
  for (;;) {
    try {
      db.exec('BEGIN IMMEDIATE')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      await sleep(1 + Math.random() * 3)
    }
  }
}

function isBusy(error: unknown): boolean {
  // The low byte of an extended result code is its class; 5 is SQLITE_BUSY.
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5
}

function unavailable(error: unknown): DatabaseUnavailable {
  const reason = error instanceof Error && 'errstr' in error ? String(error.errstr) : 'write failed'
  return new DatabaseUnavailable(`SQLite: ${reason}`, error)
}
