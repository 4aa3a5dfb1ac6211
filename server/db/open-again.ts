// Opens a database a second time, for a thread that needs its own connection.
import type { Database } from './database.ts'

export type DatabaseLocation = Pick<Database, 'engine' | 'location'>

/** Loads the code of one engine only: a thread has its own copy of all code. */
export async function openAgain({ engine, location }: DatabaseLocation): Promise<Database> {
  if (engine === 'sqlite') return (await import('./sqlite.ts')).openSqlite(location)
  return (await import('./postgres.ts')).openPostgres(location, { poolSize: 1 })
}
