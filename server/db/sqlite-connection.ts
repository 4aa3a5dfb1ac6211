// One connection to a SQLite file through node:sqlite, with its prepared statements. Threads load this file, so it imports
// little.
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import type { Value } from './database.ts'

/** The console's queries have many forms, so the cache of prepared statements has a limit. */
const maxPrepared = 500

/** Returns the size of the log and changes nothing. Older versions of SQLite would copy the log. */
export const logSizeSql = 'PRAGMA wal_checkpoint(NOOP)'
const [major = 0, minor = 0] = (process.versions['sqlite'] ?? '').split('.').map(Number)
export const canReadLogSize = major > 3 || (major === 3 && minor >= 51)

/** With `checkpoint.ts` a commit copies the log only if the thread has failed. */
const autocheckpointPages = canReadLogSize ? 16_000 : 4_000

interface Prepared {
  readonly statement: StatementSync
  /** The columns of its rows; none when it returns no rows. */
  readonly names: readonly string[]
}

export interface SqliteConnection {
  readonly db: DatabaseSync
  all<R>(sql: string, values?: readonly Value[]): R[]
  one<R>(sql: string, values?: readonly Value[]): R | undefined
  run(sql: string, values?: readonly Value[]): ReturnType<StatementSync['run']>
  returnsRows(sql: string): boolean
}

export function openConnection(file: string, busyTimeoutMs: number): SqliteConnection {
  // Another process may be recovering or migrating the file, so opening it waits longer.
  const db = new DatabaseSync(file, { timeout: 5_000 })
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('PRAGMA synchronous = FULL')
  db.exec('PRAGMA foreign_keys = ON')
  db.exec('PRAGMA cache_size = -16000')
  db.exec('PRAGMA journal_size_limit = 67108864')
  db.exec(`PRAGMA wal_autocheckpoint = ${autocheckpointPages}`)
  db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  const cache = new Map<string, Prepared>()

  function prepare(sql: string): Prepared {
    let prepared = cache.get(sql)
    if (!prepared) {
      if (cache.size >= maxPrepared) cache.clear()
      const statement = db.prepare(sql)
      // Rows are read as arrays: objects created by node:sqlite cost several times as much as reading the row.
      statement.setReturnArrays(true)
      prepared = { statement, names: statement.columns().map(({ name }) => name) }
      cache.set(sql, prepared)
    }
    return prepared
  }

  return {
    db,
    all<R>(sql: string, values: readonly Value[] = []) {
      const { statement, names } = prepare(sql)
      const rows = statement.all(...(values as SQLInputValue[])) as unknown as readonly SQLOutputValue[][]
      return rows.map((row) => toObject(names, row) as R)
    },
    one<R>(sql: string, values: readonly Value[] = []) {
      const { statement, names } = prepare(sql)
      const row = statement.get(...(values as SQLInputValue[])) as unknown as SQLOutputValue[] | undefined
      return row && (toObject(names, row) as R)
    },
    run: (sql, values = []) => prepare(sql).statement.run(...(values as SQLInputValue[])),
    returnsRows: (sql) => prepare(sql).names.length > 0,
  }
}

function toObject(names: readonly string[], values: readonly SQLOutputValue[]): object {
  const row: Record<string, SQLOutputValue> = {}
  for (let i = 0; i < names.length; i += 1) row[names[i]!] = values[i]!
  return row
}

const rowsPerPage = 5_000

export async function* readPages(
  { db }: SqliteConnection,
  table: string,
): AsyncGenerator<Record<string, Value>[]> {
  let page: Record<string, Value>[] = []
  for (const row of db.prepare(`SELECT * FROM "${table}"`).iterate()) {
    page.push(row as Record<string, Value>)
    if (page.length === rowsPerPage) {
      yield page
      page = []
    }
  }
  if (page.length > 0) yield page
}

/** Whether another process held a lock. */
export function isBusy(error: unknown): boolean {
  // The low byte of an extended result code is its class; 5 is SQLITE_BUSY.
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5
}
