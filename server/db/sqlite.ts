// The embedded engine: SQLite through node:sqlite, with group commit.
//
// Write jobs that arrive in one turn of the event loop share one transaction and are answered after the one fsync. Reads
// see only what is committed: while a transaction is open they go through a second connection.
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Effects, type OnDatabaseError, runEffects } from './after-commit.ts'
import {
  type Database,
  DatabaseUnavailable,
  type Job,
  type Queries,
  type Tx,
  type Value,
} from './database.ts'
import { type Executed, kyselyOver } from './kysely-connection.ts'

const now = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`

/** How many jobs one commit carries at most: enough to hide the fsync, few enough to keep the turn short. */
const batchLimit = 512

/** How long a commit waits for another process that is writing. Waiting is asynchronous: the event loop goes on. */
const busyLimitMs = 5_000

/** So often it tries again in the very next turn of the event loop, before it sleeps between its tries. */
const eagerTries = 30

/** Prepared statements are kept per connection; console queries come in many shapes, so there is a bound. */
const preparedLimit = 500

interface QueuedJob {
  readonly run: Job<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

type Ended =
  | { readonly job: QueuedJob; readonly value: unknown; readonly effects: Effects | undefined }
  | { readonly job: QueuedJob; readonly error: unknown }

export interface SqliteOptions {
  /** FOR THE FAULT SUITE ONLY: answers before the commit, so that the suite can show that it notices. */
  readonly acknowledgeEarly?: boolean
  readonly onError?: OnDatabaseError | undefined
}

export function openSqlite(file: string, options: SqliteOptions = {}): Database {
  const writer = openConnection(file, 0)
  const reader = openConnection(file, 2_000)
  reader.db.exec('PRAGMA query_only = ON')
  // It tells of others' commits; our own are counted. The second connection would drop its pages to look.
  const readVersion = writer.db.prepare('PRAGMA data_version')
  readVersion.setReturnArrays(true)

  // The writing connection knows its own commits, so its memory of the file stays good; the second one has to look again.
  const forReading = (sql: string): Connection => (isWriting || !sql.startsWith('SELECT') ? reader : writer)
  /** Of the job that is running. */
  let effects: Effects | undefined
  const tx = {
    ...queriesOver(writer),
    afterCommit: (effect: () => void) => void (effects ??= []).push(effect),
  } as Tx
  const reads: Queries = {
    ...queriesOver(reader),
    all: async <R>(sql: string, values?: readonly Value[]) => readAll<R>(sql, values),
    one: async <R>(sql: string, values?: readonly Value[]) => readOne<R>(sql, values),
  }
  const stats: Database['stats'] = { onCommit: undefined }

  let queue: QueuedJob[] = []
  let scheduled = false
  let commits = 0
  let version = 0
  let isWriting = false
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
      isWriting = true
      let ended = batch.length === 1 ? await runAlone(batch[0]!) : await runTogether(batch)
      if (options.acknowledgeEarly === true) {
        settle(ended)
        ended = []
        await sleep(50)
      }
      // A single job that failed has rolled the transaction back already.
      if (writer.db.isTransaction) writer.run('COMMIT')
      isWriting = false
      commits += 1
      stats.onCommit?.(batch.length)
      settle(ended)
    } catch (error) {
      // Nothing of this batch is durable: a full disk or a failed commit answers every job alike.
      if (writer.db.isTransaction) writer.db.exec('ROLLBACK')
      isWriting = false
      const cause = unavailable(error)
      for (const job of batch) job.reject(cause)
    }
    scheduled = false
    if (queue.length > 0) schedule()
    else idle?.()
  }

  async function run(job: QueuedJob): Promise<Ended> {
    effects = undefined
    const value = await job.run(tx)
    return { job, value, effects }
  }

  function settle(ended: readonly Ended[]): void {
    for (const end of ended) {
      if ('error' in end) end.job.reject(end.error)
      else {
        runEffects(end.effects, options.onError)
        end.job.resolve(end.value)
      }
    }
  }

  async function runAlone(job: QueuedJob): Promise<Ended[]> {
    try {
      return [await run(job)]
    } catch (error) {
      if (writer.db.isTransaction) writer.db.exec('ROLLBACK')
      return [{ job, error }]
    }
  }

  /** Most jobs succeed, so they run without a way back; when one fails, all run again, each in a savepoint of its own. */
  async function runTogether(batch: readonly QueuedJob[]): Promise<Ended[]> {
    const ended: Ended[] = []
    try {
      // Jobs share one connection: they must run one after the other.
      for (const job of batch) ended.push(await run(job))
      return ended
    } catch (error) {
      // Some errors (disk full) end the whole transaction.
      if (!writer.db.isTransaction) throw error
      writer.run('ROLLBACK')
      await begin(writer.db)
      return runApart(batch)
    }
  }

  async function runApart(batch: readonly QueuedJob[]): Promise<Ended[]> {
    const ended: Ended[] = []
    for (const job of batch) {
      writer.run('SAVEPOINT job')
      try {
        ended.push(await run(job))
      } catch (error) {
        if (!writer.db.isTransaction) throw error
        writer.run('ROLLBACK TO job')
        ended.push({ job, error })
      }
      writer.run('RELEASE job')
    }
    return ended
  }

  /** Both only ever grow, and so does their sum. */
  function dataVersion(): number {
    try {
      version = (readVersion.get() as unknown as readonly number[])[0]!
    } catch (error) {
      if (!isBusy(error)) throw error
      // Nobody knows: so it may have changed.
      commits += 1
    }
    return version + commits
  }

  function readAll<R>(sql: string, values?: readonly Value[]): R[] {
    return reading(sql, (connection) => allRows<R>(connection, sql, values))
  }

  function readOne<R>(sql: string, values?: readonly Value[]): R | undefined {
    return reading(sql, (connection) => oneRow<R>(connection, sql, values))
  }

  /** The writing connection never waits for others; the second one may. */
  function reading<T>(sql: string, read: (connection: Connection) => T): T {
    const connection = forReading(sql)
    try {
      return read(connection)
    } catch (error) {
      if (connection === reader || !isBusy(error)) throw error
      return read(reader)
    }
  }

  return {
    ...reads,
    stats,
    place: file,
    direct: {
      all: readAll,
      one: readOne,
      dataVersion,
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

interface Prepared {
  readonly statement: StatementSync
  /** Of the columns it answers with; none when it only changes. */
  readonly names: readonly string[]
}

interface Connection {
  readonly db: DatabaseSync
  prepare(sql: string): Prepared
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
  const known = new Map<string, Prepared>()
  function prepare(sql: string): Prepared {
    let prepared = known.get(sql)
    if (!prepared) {
      if (known.size >= preparedLimit) known.clear()
      const statement = db.prepare(sql)
      // Rows come as lists: objects made by the engine cost several times as much as the reading does.
      statement.setReturnArrays(true)
      prepared = { statement, names: statement.columns().map(({ name }) => name) }
      known.set(sql, prepared)
    }
    return prepared
  }
  return { db, prepare, run: (sql) => void prepare(sql).statement.run() }
}

function oneRow<R>(connection: Connection, sql: string, values: readonly Value[] = []): R | undefined {
  const { statement, names } = connection.prepare(sql)
  const row = statement.get(...(values as SQLInputValue[])) as unknown as
    | readonly SQLOutputValue[]
    | undefined
  return row && (rowOf(names, row) as R)
}

function allRows<R>(connection: Connection, sql: string, values: readonly Value[] = []): R[] {
  const { statement, names } = connection.prepare(sql)
  const rows = statement.all(...(values as SQLInputValue[])) as unknown as readonly SQLOutputValue[][]
  return rows.map((row) => rowOf(names, row) as R)
}

function rowOf(names: readonly string[], values: readonly SQLOutputValue[]): Record<string, SQLOutputValue> {
  const row: Record<string, SQLOutputValue> = {}
  for (let i = 0; i < names.length; i += 1) row[names[i]!] = values[i]!
  return row
}

function queriesOver(connection: Connection): Queries {
  return {
    engine: 'sqlite',
    now,
    kysely: kyselyOver('sqlite', async (sql, values): Promise<Executed> => {
      if (connection.prepare(sql).names.length > 0) {
        const rows = allRows<Record<string, unknown>>(connection, sql, values as readonly Value[])
        return { rows, changed: rows.length }
      }
      const { statement } = connection.prepare(sql)
      return { rows: [], changed: Number(statement.run(...(values as SQLInputValue[])).changes) }
    }),
    all: async <R>(sql: string, values?: readonly Value[]) => allRows<R>(connection, sql, values),
    one: async <R>(sql: string, values?: readonly Value[]) => oneRow<R>(connection, sql, values),
    run: async (sql, values = []) =>
      Number(connection.prepare(sql).statement.run(...(values as SQLInputValue[])).changes),
    // RETURNING goes through a table of its own, which makes an insert half as slow again.
    insert: async (sql, values = []) =>
      Number(connection.prepare(sql).statement.run(...(values as SQLInputValue[])).lastInsertRowid),
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
  for (let tries = 1; ; tries += 1) {
    try {
      db.exec('BEGIN IMMEDIATE')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      // Most commits are over in a moment, sooner than the shortest sleep is.
      if (tries <= eagerTries) await nextTurn()
      else await sleep(1 + Math.random() * 3)
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
