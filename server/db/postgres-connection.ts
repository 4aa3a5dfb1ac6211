// How connections to PostgreSQL are made: address, TLS, time limits, and what to do when the server refuses one.
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { codeOf, hasNoTls } from './postgres-errors.ts'
import { readPostgresUrl } from './postgres-url.ts'

export const connectTimeoutMs = 5_000

/** How long a refused connection is tried again. Longer than another process keeps idle connections open (10 s). */
const refusedTimeoutMs = 12_000

const statementTimeoutMs = 30_000

/**
 * Longer than any statement may take. When the machine of the server or the network to it fails without closing connections, the
 * operating system reports it after about 15 minutes.
 */
export const silenceTimeoutMs = statementTimeoutMs + 10_000

/** A process that is suspended in a transaction must not hold its locks indefinitely. */
const idleTransactionTimeoutMs = 10_000

/**
 * The tables that every call reads are in memory. With the default of 4 the planner reads a whole table of a thousand accounts
 * instead of a few rows by their index.
 */
const randomPageCost = 1.1

/** Not startup parameters: PgBouncer refuses a connection that sends them. */
const sessionSql = `SET statement_timeout = ${statementTimeoutMs};
  SET idle_in_transaction_session_timeout = ${idleTransactionTimeoutMs};
  SET random_page_cost = ${randomPageCost}; SELECT pg_backend_pid() AS pid`

/** Behind a pooler a transaction may run in another session, so it sets its own limits, in the same round trip. */
const pooledBeginSql = `BEGIN; SET LOCAL statement_timeout = ${statementTimeoutMs};
  SET LOCAL idle_in_transaction_session_timeout = ${idleTransactionTimeoutMs};
  SET LOCAL random_page_cost = ${randomPageCost}`

/** Too many connections, for the server, the database or the role. */
const tooManyConnections = '53300'

export interface Connector {
  config(): pg.ClientConfig
  /** A class for `pg.Pool`: the pool passes its own options, which do not know whether the server has TLS. */
  readonly Client: typeof pg.Client
  /** Tries again while the server has no free connection. Nothing was sent when it refused one. */
  retry<T>(connect: () => Promise<T>): Promise<T>
  /** Whether another attempt may succeed at once, in another way. */
  adapt(error: unknown): boolean
}

export function createConnector(url: string): Connector {
  const { ssl, isTlsOptional, ...address } = readPostgresUrl(url)
  let isWithoutTls = false
  const config = (): pg.ClientConfig & { readonly pipeline: boolean } => ({
    ...address,
    ssl: isWithoutTls ? false : ssl,
    keepAlive: true,
    // A statement is sent without waiting for the results of those before it.
    pipeline: true,
  })

  function adapt(error: unknown): boolean {
    if (!isTlsOptional || !hasNoTls(error) || isWithoutTls) return false
    isWithoutTls = true
    return true
  }

  return {
    config,
    Client: class extends pg.Client {
      constructor(options?: pg.ClientConfig) {
        super({ ...options, ...config() })
      }
    },
    adapt,
    async retry(connect) {
      const deadline = performance.now() + refusedTimeoutMs
      for (let waitMs = 25; ; waitMs = Math.min(2 * waitMs, 400)) {
        try {
          return await connect()
        } catch (error) {
          if (adapt(error)) continue
          if (codeOf(error) !== tooManyConnections || performance.now() > deadline) throw error
          await sleep(waitMs * (0.5 + Math.random()))
        }
      }
    },
  }
}

/** When a connection was opened, and when it discards its plans next. */
const planTimes = new WeakMap<pg.ClientBase, { readonly opened: number; discardAt: number }>()
const firstDiscardMs = 500

/**
 * Whether it is time to plan the prepared statements of a connection again. The server keeps a plan until it has analyzed the
 * table, at best a minute later. A plan made for a nearly empty table reads all of it, which takes longer with every row.
 */
function hasOldPlans(client: pg.ClientBase): boolean {
  const times = planTimes.get(client)
  const now = performance.now()
  if (!times || now < times.discardAt) return false
  times.discardAt = now + (now - times.opened)
  return true
}

/** Connections through a pooler. Their key for cancelling is the pooler's, not that of a server process. */
const pooled = new WeakSet<pg.ClientBase>()

/** The longest time in milliseconds that each connection waits for the server. */
const silenceLimits = new WeakMap<pg.ClientBase, number>()

/** The next statements may take minutes, until `limitSilence`. */
export function allowSilence(client: pg.ClientBase): void {
  socketOf(client).setTimeout(0)
}

export function limitSilence(client: pg.ClientBase): void {
  const socket = socketOf(client)
  if (socket.timeout === 0) socket.setTimeout(silenceLimits.get(client) ?? silenceTimeoutMs)
}

/** The socket, or its TLS layer. */
export function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream
}

/** Prepares a new connection, which is closed when the server sends nothing for `silenceMs`. */
export async function prepareSession(client: pg.ClientBase, silenceMs: number): Promise<void> {
  const socket = socketOf(client)
  silenceLimits.set(client, silenceMs)
  socket.setTimeout(silenceMs)
  // The pool closes idle connections after 10 s, so a response is due.
  socket.on('timeout', () =>
    socket.destroy(Object.assign(new Error('the server does not respond'), { code: 'ETIMEDOUT' })),
  )
  const results = (await client.query(sessionSql)) as unknown as readonly pg.QueryResult<{ pid: number }>[]
  if (results.at(-1)?.rows[0]?.pid !== processIdOf(client)) pooled.add(client)
  const opened = performance.now()
  planTimes.set(client, { opened, discardAt: opened + firstDiscardMs })
}

export function isPooled(client: pg.ClientBase): boolean {
  return pooled.has(client)
}

export function beginSql(client: pg.ClientBase): string {
  const begin = pooled.has(client) ? pooledBeginSql : 'BEGIN'
  return hasOldPlans(client) ? `${begin}; DISCARD PLANS` : begin
}

/** For a statement without a transaction. */
export async function discardOldPlans(client: pg.ClientBase): Promise<void> {
  if (hasOldPlans(client)) await client.query('DISCARD PLANS')
}

/** The server process that the connection was told it talks to. */
export function processIdOf(client: pg.ClientBase): number {
  return (client as unknown as { readonly processID: number }).processID
}
