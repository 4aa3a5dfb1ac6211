// The engine for more than one machine: PostgreSQL through a connection pool.
import pg from 'pg'
import { type Effects, type OnDatabaseError, runEffects } from './after-commit.ts'
import {
  type ChannelEvents,
  type Database,
  DatabaseUnavailable,
  type Job,
  type NextStatement,
  type SqlStatement,
  type Tx,
  type Value,
} from './database.ts'
import {
  allowSilence,
  beginSql,
  connectTimeoutMs,
  createConnector,
  discardOldPlans,
  isPooled,
  limitSilence,
  prepareSession,
  silenceTimeoutMs,
  socketOf,
} from './postgres-connection.ts'
import { codeOf, isConnectionLoss, unavailable } from './postgres-errors.ts'
import { listenOn } from './postgres-listener.ts'
import { isStalePlan, queriesFor } from './postgres-queries.ts'

/** Deadlock and serialization failure: nothing was written, so the job can run again. */
const retriable = new Set(['40P01', '40001'])

const integerTypes = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC])

/** Our integers are far below 2^53, so they are numbers, as in SQLite. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    integerTypes.has(oid)
      ? Number
      : (pg.types.getTypeParser(oid, format) as unknown)) as pg.CustomTypesConfig['getTypeParser'],
}

/**
 * Needs half a megabyte in the database's folder for a moment. On a full disk small updates still fit into what the server
 * has reserved, while a paid call, which needs more, fails.
 */
const spaceSql = [
  `SET LOCAL work_mem = '64kB'`,
  `SET LOCAL temp_tablespaces = ''`,
  `WITH spilled AS MATERIALIZED (SELECT repeat('x', 8000) FROM generate_series(1, 64)) SELECT count(*) FROM spilled`,
]

const probeTimeoutMs = 1_500

/** Longer than an idle connection stays open (10 s). A probe has failed long before, and the next one needs another connection. */
const probeSilenceMs = 15_000

const defaultPoolSize = 12

/** Opened when the console reads. */
const reportConnections = 3

/** How long a report waits for one of them. */
const reportTimeoutMs = 20_000

export interface PostgresOptions {
  readonly poolSize?: number
  /** Where notifications are received: not behind a pooler in transaction mode. False: nowhere. Default: the same URL. */
  readonly listenUrl?: string | false
  readonly onError?: OnDatabaseError | undefined
  /** After this time without a response a connection is closed. */
  readonly silenceMs?: number
}

interface PooledTx {
  readonly tx: Tx
  /** Of the job that is running. */
  effects: Effects | undefined
  /** Until the job sends its first statement. */
  begun: Promise<unknown> | undefined
}

export function openPostgres(url: string, options: PostgresOptions = {}): Database {
  const connector = createConnector(url)
  const { silenceMs = silenceTimeoutMs } = options
  const openPool = (max: number, timeoutMs: number, maxSilenceMs = silenceMs) => {
    const opened = new pg.Pool({
      max,
      types,
      application_name: 'tollgate',
      connectionTimeoutMillis: timeoutMs,
      Client: connector.Client,
      // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, its type does not say so
      onConnect: (client) => prepareSession(client, maxSilenceMs),
    })
    // The pool replaces a broken idle connection; without a listener the error would end the process.
    opened.on('error', (error) => options.onError?.(error, 'database connection lost'))
    return opened
  }
  const pool = openPool(options.poolSize ?? defaultPoolSize, connectTimeoutMs)
  /** A connection of its own: a probe neither waits for paid calls nor takes a connection from them. */
  const probePool = openPool(1, probeTimeoutMs, Math.min(silenceMs, probeSilenceMs))

  const reportPool = openPool(reportConnections, reportTimeoutMs)

  const reads = queriesFor((query) => connector.retry(() => pool.query(query)), { repeatsStalePlans: true })
  const transactions = new WeakMap<pg.PoolClient, PooledTx>()
  const stats: Database['stats'] = { onCommit: undefined }
  const listenUrl = options.listenUrl ?? url
  const running = new Set<Promise<unknown>>()
  let closed = false

  /** One per connection, because each prepares its own statements. */
  function transactionOn(client: pg.PoolClient): PooledTx {
    let pooled = transactions.get(client)
    if (!pooled) {
      const queries = queriesFor(async (query) => {
        const result = client.query(query)
        const { begun } = own
        if (!begun) return result
        own.begun = undefined
        // Without a transaction, nothing may follow the first statement.
        return Promise.all([result, begun]).then(([first]) => first)
      })
      const own: PooledTx = {
        tx: {
          ...queries,
          afterCommit: (effect: () => void) => void (own.effects ??= []).push(effect),
          async removeTimeLimit() {
            allowSilence(client)
            await queries.run('SET LOCAL statement_timeout = 0')
          },
        } as Tx,
        effects: undefined,
        begun: undefined,
      }
      pooled = own
      transactions.set(client, pooled)
    }
    return pooled
  }

  async function withClient<T>(from: pg.Pool, use: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await connector
      .retry(() => from.connect())
      .catch((error: unknown) => {
        throw unavailable(error)
      })
    let broken: Error | undefined
    const onError = (error: Error) => (broken = error)
    client.on('error', onError)
    try {
      return await use(client)
    } catch (error) {
      await client.query('ROLLBACK').catch((rollbackError: Error) => (broken = rollbackError))
      throw isConnectionLoss(error) ? unavailable(error) : error
    } finally {
      client.off('error', onError)
      limitSilence(client)
      client.release(broken)
    }
  }

  async function runOn<T>(client: pg.PoolClient, job: Job<T>): Promise<T> {
    const current = transactionOn(client)
    const begun = begin(client)
    const value = await job(current.tx)
    await begun
    onCommitted(await client.query('COMMIT'))
    runEffects(current.effects, options.onError)
    return value
  }

  /** Sent together with the first statement: on a busy event loop, a round trip takes longer than the statement. */
  function begin(client: pg.PoolClient): Promise<unknown> {
    const current = transactionOn(client)
    sendTogether(client)
    const begun = client.query(beginSql(client))
    begun.catch(() => undefined)
    current.begun = begun
    current.effects = undefined
    return begun
  }

  function onCommitted({ command }: pg.QueryResult): void {
    // After a failed statement, COMMIT responds with ROLLBACK and raises no error.
    if (command !== 'COMMIT') throw new DatabaseUnavailable('PostgreSQL: the transaction was rolled back')
    stats.onCommit?.(1)
  }

  async function runTwoOn<R>(
    client: pg.PoolClient,
    [sql, values]: SqlStatement,
    next: NextStatement<R>,
  ): Promise<R[]> {
    const { tx } = transactionOn(client)
    const begun = begin(client)
    const rows = await tx.all<R>(sql, values)
    await begun
    const second = next(rows)
    sendTogether(client)
    // When the second one fails, its error is the reason, and COMMIT ends the transaction all the same.
    const [, committed] = await Promise.all([second && tx.all(...second), client.query('COMMIT')])
    onCommitted(committed)
    return rows
  }

  async function runStatementOn<R>(
    client: pg.PoolClient,
    sql: string,
    values: readonly Value[],
  ): Promise<R[]> {
    // Behind a pooler the session may have other time limits, which only a transaction can set.
    if (isPooled(client)) return runOn(client, (tx) => tx.all<R>(sql, values))
    const current = transactionOn(client)
    current.begun = undefined
    // An error here must not look like one of the statement, which may be committed.
    discardOldPlans(client).catch(() => undefined)
    const rows = await current.tx.all<R>(sql, values)
    stats.onCommit?.(1)
    return rows
  }

  async function runWithRetries<T>(run: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await run()
      } catch (error) {
        if (tries >= 5 || !(retriable.has(codeOf(error)) || isStalePlan(error))) throw error
      }
    }
  }

  /** `close` waits for it. */
  function track<T>(run: () => Promise<T>): Promise<T> {
    if (closed) return Promise.reject(new DatabaseUnavailable('the database is closed'))
    const work = runWithRetries(run)
    const settled: Promise<unknown> = work.then(
      () => running.delete(settled),
      () => running.delete(settled),
    )
    running.add(settled)
    return work
  }

  return {
    ...reads,
    stats,
    location: url,
    isShared: true,
    // Spread over the round trips of about ten queries, which more work shares.
    maxWorkMs: 20,
    direct: undefined,
    reports: queriesFor((query) => connector.retry(() => reportPool.query(query)), {
      repeatsStalePlans: true,
    }),
    write: (job) => track(() => withClient(pool, (client) => runOn(client, job))),
    writeStatement: <R>(sql: string, values: readonly Value[], next?: NextStatement<R>) =>
      track(() =>
        withClient(pool, (client) =>
          next ? runTwoOn(client, [sql, values], next) : runStatementOn<R>(client, sql, values),
        ),
      ),
    probe: (job) =>
      withClient(probePool, (client) =>
        runOn(client, async (tx) => {
          for (const statement of spaceSql) await tx.all(statement)
          return job(tx)
        }),
      ),
    async snapshot(read) {
      const client = await connector.retry(() => pool.connect())
      try {
        allowSilence(client)
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        await client.query('SET LOCAL statement_timeout = 0')
        await client.query('SET LOCAL idle_in_transaction_session_timeout = 0')
        const value = await read({
          ...queriesFor((query) => client.query(query)),
          rows: (table) => readPages(client, table),
        })
        await client.query('COMMIT')
        limitSilence(client)
        client.release()
        return value
      } catch (error) {
        client.release(true)
        throw error
      }
    },
    ...(listenUrl === false
      ? {}
      : {
          listen: (channel: string, events: ChannelEvents) =>
            listenOn(listenUrl, channel, events, (payload) =>
              reads.all('SELECT pg_notify(?, ?)', [channel, payload]).then(() => undefined),
            ),
        }),
    async close() {
      closed = true
      // The pool would not serve jobs that still wait for a connection.
      await Promise.all(running)
      await Promise.all([pool.end(), probePool.end(), reportPool.end()])
    },
  }
}

/** Sends what follows at once in one packet: each costs both processes a system call. */
function sendTogether(client: pg.PoolClient): void {
  const stream = socketOf(client)
  stream.cork()
  process.nextTick(() => stream.uncork())
}

async function* readPages(client: pg.PoolClient, table: string): AsyncGenerator<Record<string, Value>[]> {
  await client.query(`DECLARE snapshot_rows NO SCROLL CURSOR FOR SELECT * FROM "${table}"`)
  for (;;) {
    const { rows } = await client.query<Record<string, Value>>('FETCH 5000 FROM snapshot_rows')
    if (rows.length === 0) break
    yield rows
  }
  await client.query('CLOSE snapshot_rows')
}
