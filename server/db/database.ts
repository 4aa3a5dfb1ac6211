// The interface to the database: what every store can do, on both engines.
import type { Kysely } from 'kysely'
import type { Tables } from './schema.ts'

export type Engine = 'sqlite' | 'postgres'

/** What both engines store: text, integers (times are milliseconds), bytes, and null. */
export type Value = string | number | Uint8Array | null | PostgresArray

/** A whole column in one value, for `unnest` on PostgreSQL. */
export type PostgresArray = readonly (string | number | null)[]

/**
 * SQL uses `?` for values and stays in the subset both engines share; `dialect.ts` has the exceptions. The text is prepared
 * once per connection, so it must not contain values.
 */
export interface Queries {
  readonly engine: Engine
  /** For queries whose text depends on the caller's filters. */
  readonly kysely: Kysely<Tables>
  /** SQL of the database's clock, in milliseconds. Leases are decided by this clock, never by ours. */
  readonly now: string
  all<R>(sql: string, values?: readonly Value[]): Promise<R[]>
  one<R>(sql: string, values?: readonly Value[]): Promise<R | undefined>
  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
  /** Inserts one row into a table with an identity `id` and returns the id. */
  insert(sql: string, values?: readonly Value[]): Promise<number>
}

declare const transaction: unique symbol

/** A transaction: the first argument of every write of a store, so that nothing is written outside of one. */
export interface Tx extends Queries {
  readonly [transaction]: true
  /**
   * Runs `effect` once the transaction is durable and before `write` resolves; effects run in order. Nothing runs when the
   * job is rolled back or run again. An error goes to the `onError` of the database, never to a caller.
   */
  afterCommit(effect: () => void): void
  /** For statements that may take minutes. */
  removeTimeLimit(): Promise<void>
}

/**
 * A job writes inside one transaction. It awaits only its queries, because other jobs wait for it. It has no effects outside
 * of the transaction except through `afterCommit`: when a job in the same batch fails, it runs again from the start.
 */
export type Job<T> = (tx: Tx) => Promise<T>

/** Synchronous reads. Only the embedded engine has them. */
export interface DirectReads {
  one<R>(sql: string, values?: readonly Value[]): R | undefined
  all<R>(sql: string, values?: readonly Value[]): R[]
  /** Changes whenever any process has committed since the last call. */
  dataVersion(): number
}

export type SqlStatement = readonly [sql: string, values: readonly Value[]]

/** Has no other effects, because the transaction may run again. */
export type NextStatement<R> = (rows: readonly R[]) => SqlStatement | undefined

export interface Database extends Queries {
  /** The file or the URL, for a thread that opens its own connection. */
  readonly location: string
  /** Whether processes on other machines can use this database. */
  readonly isShared: boolean
  /** How much CPU time a long piece of work should take in one transaction, in milliseconds, so that other calls do not wait for it. */
  readonly maxWorkMs: number
  /** Runs the job in a transaction and resolves when it is durable. A job that throws is rolled back. */
  write<T>(job: Job<T>): Promise<T>
  /**
   * Runs one statement that is a transaction of its own, and resolves when it is durable. It runs again after a deadlock. Only
   * where a statement takes a round trip, so that one is much quicker than a transaction: on PostgreSQL. `next` may return a
   * second statement that needs the rows of the first; both commit together, in two round trips.
   */
  writeStatement?<R>(sql: string, values: readonly Value[], next?: NextStatement<R>): Promise<R[]>
  readonly direct: DirectReads | undefined
  /**
   * Reads for people: lists, searches, exports. They see what is committed, and paid calls never wait for them: on SQLite
   * they run in a thread, on PostgreSQL on connections of their own.
   */
  readonly reports: Queries
  /**
   * Runs the job like `write`, after a check that there is disk space for paid calls. On PostgreSQL it has a connection of its
   * own, so paid calls and a probe never wait for each other.
   */
  probe<T>(job: Job<T>): Promise<T>
  /** Reads one consistent state while other transactions write. */
  snapshot<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T>
  close(): Promise<void>
  readonly stats: WriteStats
  /** Receives what transactions of any process send with `NOTIFY`. PostgreSQL only. */
  listen?(channel: string, events: ChannelEvents): Channel
}

export interface ChannelEvents {
  /** In the order of the commits. */
  onMessage(payload: string): void
  /** From now on every message arrives. */
  onUp(): void
  /** From now on messages may be missing. */
  onDown(): void
}

export interface Channel {
  /** Whether every message that was committed up to 0.8 seconds ago has arrived. */
  isFresh(): boolean
  /** When it was last known that no message was missing, by `performance.now`; minus infinity before the first time. */
  checkedAt(): number
  close(): void
}

export interface Snapshot extends Pick<Queries, 'engine' | 'all'> {
  /** All rows of a table, a few thousand at a time. */
  rows(table: string): AsyncIterable<readonly Record<string, Value>[]>
}

export interface WriteStats {
  /** Called after each commit with its number of jobs. */
  onCommit: ((jobs: number) => void) | undefined
}

/** The database cannot be reached or written. The message is for an operator and contains no statement and no value. */
export class DatabaseUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseUnavailable'
  }
}
