// Creates test databases in the PostgreSQL cluster of the test run. Migrated databases are copies of a template database.
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { migrate } from '../../server/db/migrate.ts'
import { openPostgres } from '../../server/db/postgres.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

let ownCluster: Promise<PostgresServer> | undefined

/** Returns the URL of the cluster of the test run. Without the global setup it starts one that ends with the process. */
export async function testCluster(): Promise<string> {
  const shared = process.env['TEST_DATABASE_URL']
  if (shared !== undefined && shared !== '') return shared
  ownCluster ??= startPostgres()
  return (await ownCluster).url
}

/** Creates an empty database. */
export async function emptyPostgresDatabase(): Promise<TestDatabase> {
  // template0 allows no connections, so nothing can block the copy.
  return createDatabase('template0')
}

/** Creates a migrated database: a copy of the template, or migrated here without the global setup. */
export async function migratedPostgresDatabase(): Promise<TestDatabase> {
  const template = process.env['TEST_POSTGRES_TEMPLATE']
  if (template !== undefined && template !== '') return createDatabase(template)
  const database = await emptyPostgresDatabase()
  await migrateOnce(database)
  return database
}

/** Creates the template database. PostgreSQL copies it only while it has no connections. */
export async function createPostgresTemplate(): Promise<TestDatabase & { readonly name: string }> {
  const database = await emptyPostgresDatabase()
  await migrateOnce(database)
  return { ...database, name: new URL(database.url).pathname.slice(1) }
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const cluster = await testCluster()
  const name = `test_${randomBytes(8).toString('hex')}`
  // Copying the files takes half the time of the default strategy, which also writes every page to the WAL.
  await runStatement(cluster, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  const url = new URL(cluster)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => runStatement(cluster, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

async function migrateOnce({ url }: TestDatabase): Promise<void> {
  const db = openPostgres(url)
  try {
    await migrate(db)
  } finally {
    await db.close()
  }
}

async function runStatement(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
