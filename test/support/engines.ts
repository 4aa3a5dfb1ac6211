// Runs a suite on both engines, each test file with databases of its own.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Engine } from '../../server/db/database.ts'
import { migrate } from '../../server/db/migrate.ts'
import { openPostgres } from '../../server/db/postgres.ts'
import { openSqlite } from '../../server/db/sqlite.ts'
import { freshPostgresDatabase } from './postgres.ts'

export const engines: readonly Engine[] = ['sqlite', 'postgres']

export interface FreshStorage {
  /** What settings a service on this storage needs. */
  readonly environment: Readonly<Record<string, string>>
  /** A further connection, as another process would have it. */
  open(): Database
  remove(): Promise<void>
}

export async function freshStorage(engine: Engine): Promise<FreshStorage> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  const removeDirectory = () => rm(directory, { recursive: true, force: true })
  if (engine === 'sqlite') {
    return {
      environment: { DATA_DIR: directory },
      open: () => openSqlite(join(directory, 'tollgate.db')),
      remove: removeDirectory,
    }
  }
  const database = await freshPostgresDatabase()
  return {
    environment: { DATA_DIR: directory, DATABASE_URL: database.url },
    open: () => openPostgres(database.url),
    async remove() {
      await database.drop()
      await removeDirectory()
    },
  }
}

/** A migrated database; `await using` closes and removes it. */
export async function freshDatabase(
  engine: Engine,
): Promise<AsyncDisposable & { db: Database; storage: FreshStorage }> {
  const storage = await freshStorage(engine)
  const db = storage.open()
  await migrate(db)
  return {
    db,
    storage,
    async [Symbol.asyncDispose]() {
      await db.close()
      await storage.remove()
    },
  }
}

export function onEachEngine(name: string, suite: (engine: Engine) => void): void {
  for (const engine of engines) void describe(`${name} (${engine})`, () => suite(engine))
}

/** A change of links or pools holds from the next request on; on PostgreSQL it reaches other processes within a second. */
export async function untilSeen(engine: Engine): Promise<void> {
  if (engine === 'postgres') await sleep(1_000)
}

export function uniqueName(): string {
  return `u${randomUUID().replaceAll('-', '').slice(0, 12)}`
}
