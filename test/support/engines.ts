// Runs a suite on both database engines, with a new database for each test or suite.
import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lowerPasswordCostForTests } from '../../server/accounts/password.ts'
import type { Database, Engine } from '../../server/db/database.ts'
import { migrate } from '../../server/db/migrate.ts'
import { openPostgres } from '../../server/db/postgres.ts'
import { openSqlite } from '../../server/db/sqlite.ts'
import { emptyPostgresDatabase, migratedPostgresDatabase, type TestDatabase } from './postgres-database.ts'

// Hashing a password takes 50 ms of CPU time, and nearly every test creates an account. Services in separate processes
// keep the full cost.
lowerPasswordCostForTests()

export const engines: readonly Engine[] = ['sqlite', 'postgres']

export interface FreshStorage {
  /** The settings of a service that uses this storage. */
  readonly environment: Readonly<Record<string, string>>
  /** Opens another connection, as a second process would. */
  open(): Database
  remove(): Promise<void>
}

/** Creates a migrated database without data. */
export async function freshStorage(engine: Engine): Promise<FreshStorage> {
  if (engine === 'postgres') return postgresStorage(await migratedPostgresDatabase())
  const storage = await sqliteStorage()
  const template = process.env['TEST_SQLITE_TEMPLATE']
  if (template === undefined || template === '') {
    const db = storage.open()
    await migrate(db)
    await db.close()
  } else {
    await copyFile(template, join(storage.environment['DATA_DIR']!, 'tollgate.db'))
  }
  return storage
}

/** Creates storage without a schema, for tests of the first start, migrations and restores. */
export async function emptyStorage(engine: Engine): Promise<FreshStorage> {
  return engine === 'postgres' ? postgresStorage(await emptyPostgresDatabase()) : sqliteStorage()
}

async function sqliteStorage(): Promise<FreshStorage> {
  const directory = await dataDirectory()
  return {
    environment: { DATA_DIR: directory },
    open: () => openSqlite(join(directory, 'tollgate.db')),
    remove: () => removeDirectory(directory),
  }
}

async function postgresStorage(database: TestDatabase): Promise<FreshStorage> {
  const directory = await dataDirectory()
  return {
    environment: { DATA_DIR: directory, DATABASE_URL: database.url },
    open: () => openPostgres(database.url),
    async remove() {
      await database.drop()
      await removeDirectory(directory)
    },
  }
}

const dataDirectory = () => mkdtemp(join(tmpdir(), 'tollgate-test-'))
const removeDirectory = (directory: string) => rm(directory, { recursive: true, force: true })

/** Opens a migrated database without data; `await using` closes and removes it. */
export async function freshDatabase(
  engine: Engine,
): Promise<AsyncDisposable & { db: Database; storage: FreshStorage }> {
  const storage = await freshStorage(engine)
  const db = storage.open()
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

/** Waits until all processes use a change of links or pools: up to a second on PostgreSQL. */
export async function untilSeen(engine: Engine): Promise<void> {
  if (engine === 'postgres') await sleep(1_000)
}

export function uniqueName(): string {
  return `u${randomUUID().replaceAll('-', '').slice(0, 12)}`
}
