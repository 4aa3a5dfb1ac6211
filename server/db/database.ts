// The port to the database: what every store may do, on either engine.
import type { Kysely } from 'kysely'
import type { Tables } from './schema.ts'

export type Engine = 'sqlite' | 'postgres'

/** What both engines store: text, integers (times are milliseconds), bytes, and nothing. */
export type Value = string | number | Uint8Array | null | PostgresArray

/** Whole columns in one value, for statements with `unnest` that only PostgreSQL ever sees. */
export type PostgresArray = readonly (string | number | null)[]

/**
 * Reading and writing in one voice. Hand-written SQL uses `?` for values and stays in the subset both engines share;
 * its text is prepared once per connection, so it must not be put together from values.
 */
export interface Queries {
  readonly engine: Engine
  readonly kysely: Kysely<Tables>
  /** SQL text of the database's own clock, in milliseconds. Leases are decided by this clock, never by ours. */
  readonly now: string
  all<R>(sql: string, values?: readonly Value[]): Promise<R[]>
  one<R>(sql: string, values?: readonly Value[]): Promise<R | undefined>
  /** Runs a changing statement and tells how many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
  /** Inserts one row into a table with an identity `id` and tells the id. */
  insert(sql: string, values?: readonly Value[]): Promise<number>
}

declare const transaction: unique symbol

/** A transaction. Every write of a store takes it as its first argument, so that nothing can be written outside of one. */
export interface Tx extends Queries {
  readonly [transaction]: true
  /**
   * Runs `effect` once the transaction is durable and before `write` resolves; effects run in order. Nothing runs when the
   * job is rolled back or run again. An error goes to the `onError` of the database, never to a caller.
   */
  afterCommit(effect: () => void): void
}

/**
 * A job writes inside one transaction. It awaits nothing but its own queries: other jobs wait behind it. It changes nothing
 * but through its transaction: when a job beside it fails, it may be run again from the start.
 */
export type Job<T> = (tx: Tx) => Promise<T>

/** Reads that answer in the same turn of the event loop. Only the embedded engine can. */
export interface DirectReads {
  one<R>(sql: string, values?: readonly Value[]): R | undefined
  all<R>(sql: string, values?: readonly Value[]): R[]
  /** Changes whenever anyone has committed since the last look. */
  dataVersion(): number
}

export interface Database extends Queries {
  /** Where it stands, for a thread that opens it on its own: the file, or the address. */
  readonly place: string
  /** Runs the job in a transaction and answers only when it is durable. A job that throws leaves nothing behind. */
  write<T>(job: Job<T>): Promise<T>
  readonly direct: DirectReads | undefined
  /** Fails when the database cannot be written right now. */
  checkWritable(): Promise<void>
  /** Reads everything as it stood at one moment, while others go on writing. */
  snapshot<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T>
  close(): Promise<void>
  readonly stats: WriteStats
  /** Hears what transactions tell each other (`NOTIFY`), from whatever process. PostgreSQL only. */
  listen?(channel: string, events: ChannelEvents): Channel
}

export interface ChannelEvents {
  /** In the order of the commits. */
  onMessage(payload: string): void
  /** From now on every message arrives. */
  onUp(): void
  /** Messages may be lost from now on. */
  onDown(): void
}

export interface Channel {
  /** Whether everything that was committed up to a moment ago (well below a second) has arrived. */
  isFresh(): boolean
  close(): void
}

export interface Snapshot {
  all<R>(sql: string, values?: readonly Value[]): Promise<R[]>
  /** All rows of a table, a few thousand at a time. */
  rows(table: string): AsyncIterable<readonly Record<string, Value>[]>
}

export interface WriteStats {
  /** Called after each commit with the number of jobs it carried. */
  onCommit: ((jobs: number) => void) | undefined
}

/** The database cannot be reached or written. The text is for an operator and holds no statement and no value. */
export class DatabaseUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseUnavailable'
  }
}
