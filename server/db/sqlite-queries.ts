// The queries of a SQLite connection, as both engines have them.
import type { Queries, Value } from './database.ts'
import { kyselyForConnection } from './kysely-connection.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

const now = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`

export function queriesFor(connection: SqliteConnection): Queries {
  return {
    engine: 'sqlite',
    now,
    kysely: kyselyForConnection('sqlite', async (sql, parameters) => {
      const values = parameters as readonly Value[]
      if (!connection.returnsRows(sql)) {
        return { rows: [], changed: Number(connection.run(sql, values).changes) }
      }
      const rows = connection.all(sql, values)
      return { rows, changed: rows.length }
    }),
    all: async <R>(sql: string, values?: readonly Value[]) => connection.all<R>(sql, values),
    one: async <R>(sql: string, values?: readonly Value[]) => connection.one<R>(sql, values),
    run: async (sql, values) => Number(connection.run(sql, values).changes),
    // RETURNING uses a temporary table, which makes an insert half as slow again.
    insert: async (sql, values) => Number(connection.run(sql, values).lastInsertRowid),
  }
}
