// Opens a database a second time, for a thread that needs its own connection.
import type { Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

export type DatabaseLocation = Pick<Database, 'engine' | 'location'>

export function openAgain({ engine, location }: DatabaseLocation): Database {
  return engine === 'sqlite' ? openSqlite(location) : openPostgres(location, { poolSize: 1 })
}
