// The engine for more than one machine: PostgreSQL through a pool.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { type Effects, type OnDatabaseError, runEffects } from './after-commit.ts'
import {
  type Database,
  DatabaseUnavailable,
  type Job,
  type Queries,
  type Tx,
  type Value,
} from './database.ts'
import { kyselyOver } from './kysely-connection.ts'
import { listenOn } from './postgres-listener.ts'

const now = `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)`

/** Deadlock and serialization failure: nothing was done, and the same job may simply run again. */
const retriable = new Set(['40P01', '40001'])

const integerTypes = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC])

/** Our integers stay far below 2^53, so they are numbers here as they are in SQLite. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    integerTypes.has(oid)
      ? Number
      : (pg.types.getTypeParser(oid, format) as unknown)) as pg.CustomTypesConfig['getTypeParser'],
}

export interface PostgresOptions {
  readonly poolSize?: number
  readonly onError?: OnDatabaseError | undefined
}

interface PooledTx {
  readonly tx: Tx
  /** Of the job that is running. */
  effects: Effects | undefined
}

export function openPostgres(url: string, options: PostgresOptions = {}): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.poolSize ?? 12,
    types,
    application_name: 'tollgate',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    statement_timeout: 30_000,
    // A process that is stopped in mid-transaction must not hold its locks for ever.
    idle_in_transaction_session_timeout: 10_000,
  })
  // A lost idle connection is replaced by the pool; without a listener it would end the process.
  pool.on('error', (error) => options.onError?.(error, 'database connection lost'))

  const reads = queriesOver((query) => pool.query(query))
  const transactions = new WeakMap<pg.PoolClient, PooledTx>()
  const stats: Database['stats'] = { onCommit: undefined }
  const running = new Set<Promise<unknown>>()
  let closed = false

  /** One per connection, because each prepares its own statements. */
  function transactionOn(client: pg.PoolClient): PooledTx {
    let pooled = transactions.get(client)
    if (!pooled) {
      const queries = queriesOver((query) => client.query(query))
      const own: PooledTx = {
        tx: { ...queries, afterCommit: (effect: () => void) => void (own.effects ??= []).push(effect) } as Tx,
        effects: undefined,
      }
      pooled = own
      transactions.set(client, pooled)
    }
    return pooled
  }

  async function attempt<T>(job: Job<T>): Promise<T> {
    const client = await pool.connect().catch((error: unknown) => {
      throw unavailable(error)
    })
    let broken: Error | undefined
    const lost = (error: Error) => (broken = error)
    client.on('error', lost)
    try {
      await client.query('BEGIN')
      const current = transactionOn(client)
      current.effects = undefined
      const value = await job(current.tx)
      const { command } = await client.query('COMMIT')
      // A transaction in which a statement failed answers COMMIT with ROLLBACK, and raises nothing.
      if (command !== 'COMMIT') throw new DatabaseUnavailable('PostgreSQL: the transaction was rolled back')
      stats.onCommit?.(1)
      runEffects(current.effects, options.onError)
      return value
    } catch (error) {
      await client.query('ROLLBACK').catch((rollbackError: Error) => (broken = rollbackError))
      throw isConnectionLoss(error) ? unavailable(error) : error
    } finally {
      client.off('error', lost)
      client.release(broken)
    }
  }

  async function attemptAgain<T>(job: Job<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(job)
      } catch (error) {
        if (tries >= 5 || !retriable.has(codeOf(error))) throw error
      }
    }
  }

  return {
    ...reads,
    stats,
    place: url,
    direct: undefined,
    write(job) {
      if (closed) return Promise.reject(new DatabaseUnavailable('the database is closed'))
      const work = attemptAgain(job)
      const ended: Promise<unknown> = work.then(
        () => running.delete(ended),
        () => running.delete(ended),
      )
      running.add(ended)
      return work
    },
    async checkWritable() {
      await this.write(async (tx) => {
        await tx.run(
          `INSERT INTO setting (name, value) VALUES ('heartbeat', '') ON CONFLICT (name) DO UPDATE SET value = ''`,
        )
      })
    },
    async snapshot(read) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        await client.query('SET LOCAL statement_timeout = 0')
        await client.query('SET LOCAL idle_in_transaction_session_timeout = 0')
        const value = await read({
          all: queriesOver((query) => client.query(query)).all,
          rows: (table) => rowsOf(client, table),
        })
        await client.query('COMMIT')
        client.release()
        return value
      } catch (error) {
        client.release(true)
        throw error
      }
    },
    listen: (channel, events) =>
      listenOn(url, channel, events, (payload) =>
        reads.all('SELECT pg_notify(?, ?)', [channel, payload]).then(() => undefined),
      ),
    async close() {
      closed = true
      // The pool would leave those waiting who have no connection yet.
      await Promise.all(running)
      await pool.end()
    },
  }
}

async function* rowsOf(client: pg.PoolClient, table: string): AsyncGenerator<Record<string, Value>[]> {
  await client.query(`DECLARE snapshot_rows NO SCROLL CURSOR FOR SELECT * FROM "${table}"`)
  for (;;) {
    const { rows } = await client.query<Record<string, Value>>('FETCH 5000 FROM snapshot_rows')
    if (rows.length === 0) break
    yield rows
  }
  await client.query('CLOSE snapshot_rows')
}

function queriesOver(send: (query: pg.QueryConfig) => Promise<pg.QueryResult>): Queries {
  async function prepared(sql: string, values: readonly Value[]): Promise<pg.QueryResult> {
    const { name, text } = numbered(sql)
    try {
      return await send({ name, text, values: values as Value[] })
    } catch (error) {
      throw isConnectionLoss(error) ? unavailable(error) : error
    }
  }
  return {
    engine: 'postgres',
    now,
    kysely: kyselyOver('postgres', async (text, values) => {
      const result = await send({ text, values: values as unknown[] })
      return { rows: result.rows, changed: result.rowCount ?? 0 }
    }),
    all: async <R>(sql: string, values: readonly Value[] = []) => (await prepared(sql, values)).rows as R[],
    one: async <R>(sql: string, values: readonly Value[] = []) =>
      (await prepared(sql, values)).rows[0] as R | undefined,
    run: async (sql, values = []) => (await prepared(sql, values)).rowCount ?? 0,
    insert: async (sql, values = []) => {
      const row = (await prepared(`${sql} RETURNING id`, values)).rows[0] as { id: number } | undefined
      if (!row) throw new Error('the row was not inserted')
      return row.id
    },
  }
}

interface Numbered {
  readonly name: string
  readonly text: string
}

const numberedTexts = new Map<string, Numbered>()

/** `?` becomes `$1`, `$2` …, and the text gets a name under which the server keeps its plan. */
function numbered(sql: string): Numbered {
  let found = numberedTexts.get(sql)
  if (!found) {
    let count = 0
    const text = sql.replace(/\?/g, () => `$${++count}`)
    found = { name: `t_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`, text }
    numberedTexts.set(sql, found)
  }
  return found
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error)
  // 08 connection, 53 out of resources, 57P shutdown; the rest comes from the socket or the driver.
  return (
    /^(08|53|57P)/.test(code) ||
    /^E[A-Z]+$/.test(code) ||
    (error instanceof Error && /connection|terminated|timeout/i.test(error.message) && code === '')
  )
}

function unavailable(error: unknown): DatabaseUnavailable {
  if (error instanceof DatabaseUnavailable) return error
  return new DatabaseUnavailable(`PostgreSQL: ${codeOf(error) || 'connection lost'}`, error)
}
