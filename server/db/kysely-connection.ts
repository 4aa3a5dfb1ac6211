// Kysely on a connection that is already open: its queries run there and never start a transaction.
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Engine } from './database.ts'
import type { Tables } from './schema.ts'

interface Executed {
  readonly rows: unknown[]
  readonly changed: number
}

type Execute = (sql: string, values: readonly unknown[]) => Promise<Executed>

export function kyselyForConnection(engine: Engine, execute: Execute): Kysely<Tables> {
  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const { rows, changed } = await execute(query.sql, query.parameters)
      return { rows: rows as R[], numAffectedRows: BigInt(changed) }
    },
    // oxlint-disable-next-line require-yield -- Kysely's interface has streaming, we never use it
    async *streamQuery() {
      throw new Error('streaming is not supported')
    },
  }
  const reject = async (): Promise<never> => {
    throw new Error('transactions are opened with Database.write, not through Kysely')
  }
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: reject,
    commitTransaction: reject,
    rollbackTransaction: reject,
    releaseConnection: async () => {},
    destroy: async () => {},
  }
  const dialect: Dialect =
    engine === 'sqlite'
      ? {
          createAdapter: () => new SqliteAdapter(),
          createDriver: () => driver,
          createIntrospector: (db) => new SqliteIntrospector(db),
          createQueryCompiler: () => new SqliteQueryCompiler(),
        }
      : {
          createAdapter: () => new PostgresAdapter(),
          createDriver: () => driver,
          createIntrospector: (db) => new PostgresIntrospector(db),
          createQueryCompiler: () => new PostgresQueryCompiler(),
        }
  return new Kysely<Tables>({ dialect })
}
