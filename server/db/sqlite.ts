// The embedded engine: SQLite with group commit. Reads return committed data only.
import { rm, writeFile } from 'node:fs/promises'
import { openCheckpoints } from './checkpoint.ts'
import { type Database, DatabaseUnavailable, type Value } from './database.ts'
import { createGroupCommit, type GroupCommitOptions } from './group-commit.ts'
import { openReportReads } from './report-reads.ts'
import {
  canReadLogSize,
  isBusy,
  openConnection,
  readPages,
  type SqliteConnection,
} from './sqlite-connection.ts'
import { queriesFor } from './sqlite-queries.ts'

export function openSqlite(file: string, options: GroupCommitOptions = {}): Database {
  const writer = openConnection(file, 0)
  const reader = openConnection(file, 2_000)
  reader.db.exec('PRAGMA query_only = ON')

  const stats: Database['stats'] = { onCommit: undefined }
  const checkpoints = canReadLogSize ? openCheckpoints(file, writer) : undefined
  let commits = 0
  const { write, isWriting, stop } = createGroupCommit(
    writer,
    (jobs) => {
      commits += 1
      stats.onCommit?.(jobs)
      checkpoints?.onCommit()
    },
    options,
  )

  /**
   * Outside of a transaction, reads use the connection that writes: it knows its own commits, so its page cache stays
   * valid. It never waits for a lock; the second connection may.
   */
  function readFrom<T>(sql: string, run: (connection: SqliteConnection) => T): T {
    if (isWriting() || !sql.startsWith('SELECT')) return run(reader)
    try {
      return run(writer)
    } catch (error) {
      if (!isBusy(error)) throw error
      return run(reader)
    }
  }
  const all = <R>(sql: string, values?: readonly Value[]) => readFrom(sql, (it) => it.all<R>(sql, values))
  const one = <R>(sql: string, values?: readonly Value[]) => readFrom(sql, (it) => it.one<R>(sql, values))

  // SQLite counts the commits of other connections only; on the second connection the query would drop its page cache.
  const readVersion = writer.db.prepare('PRAGMA data_version')
  readVersion.setReturnArrays(true)
  let version = 0
  /** Neither number ever decreases, so neither does the sum. */
  function dataVersion(): number {
    try {
      version = (readVersion.get() as unknown as readonly number[])[0]!
    } catch (error) {
      if (!isBusy(error)) throw error
      // Unknown, so it may have changed.
      commits += 1
    }
    return version + commits
  }

  const queries = queriesFor(reader)
  const reports = openReportReads(file)

  return {
    ...queries,
    all: async <R>(sql: string, values?: readonly Value[]) => all<R>(sql, values),
    one: async <R>(sql: string, values?: readonly Value[]) => one<R>(sql, values),
    location: file,
    isShared: false,
    // Queries run in the event loop.
    maxWorkMs: 4,
    direct: { all, one, dataVersion },
    reports: reports.over(queries),
    stats,
    write,
    async probe(job) {
      await requireSpace(file)
      return write(job)
    },
    async snapshot(read) {
      // A separate connection: its view does not move, and no other query waits for it.
      const connection = openConnection(file, 2_000)
      try {
        connection.db.exec('BEGIN')
        return await read({ ...queriesFor(connection), rows: (table) => readPages(connection, table) })
      } finally {
        connection.db.close()
      }
    },
    async close() {
      await stop()
      await reports.close()
      await checkpoints?.close()
      reader.db.close()
      writer.db.close()
    },
  }
}

/** On a full disk small writes still fit into the allocated part of the WAL, while a paid call, which needs more, fails. */
const neededSpace = Buffer.alloc(524_288)

async function requireSpace(file: string): Promise<void> {
  const probe = `${file}-probe`
  try {
    await writeFile(probe, neededSpace, { mode: 0o600 })
  } catch (error) {
    throw new DatabaseUnavailable('SQLite: no space beside the database file', error)
  } finally {
    await rm(probe, { force: true })
  }
}
