// Runs once per test run (`node --test --test-global-setup=...`): one PostgreSQL cluster, one migrated PostgreSQL
// database and one migrated SQLite file. The processes of the test files inherit the environment variables set here.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../server/db/migrate.ts'
import { openSqlite } from '../../server/db/sqlite.ts'
import { startPostgres } from './postgres.ts'
import { createPostgresTemplate } from './postgres-database.ts'
import { root } from './root.ts'

const started = new AsyncDisposableStack()

export async function globalSetup(): Promise<void> {
  // Every test file is a separate process and loads the same modules: a third of that time is compiling them.
  process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/tollgate-tests')
  try {
    // TEST_DATABASE_URL may name a running PostgreSQL.
    if (!process.env['TEST_DATABASE_URL']) {
      const server = await startPostgres()
      started.defer(() => server.stop())
      process.env['TEST_DATABASE_URL'] = server.url
    }
    const template = await createPostgresTemplate()
    started.defer(() => template.drop())
    process.env['TEST_POSTGRES_TEMPLATE'] = template.name
    process.env['TEST_SQLITE_TEMPLATE'] = await createSqliteTemplate()
  } catch (error) {
    await started.disposeAsync()
    throw error
  }
}

export async function globalTeardown(): Promise<void> {
  await started.disposeAsync()
}

async function createSqliteTemplate(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-template-'))
  started.defer(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, 'tollgate.db')
  const db = openSqlite(file)
  await migrate(db)
  // Closing moves everything from the WAL into the file.
  await db.close()
  return file
}
