// A temporary database on either engine, with one account that has enough credits.
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { systemActor } from '../server/audit/audit.ts'
import { apiTypes } from '../contract/credits.ts'
import { createAccount, resetKey } from '../server/accounts/accounts.ts'
import { findByUsername } from '../server/accounts/store.ts'
import { readConfig } from '../server/config.ts'
import { createCredits } from '../server/credits/credits.ts'
import type { Engine } from '../server/db/database.ts'
import { type Installation, openInstallation } from '../server/runtime/installation.ts'
import { type PostgresServer, startPostgres } from '../test/support/postgres.ts'
import { recordPostgres } from './machine.ts'
import type { Scale } from './scale.ts'

export const engineNames: Readonly<Record<Engine, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

export interface Payer {
  readonly id: number
  readonly username: string
  readonly password: string
  readonly key: string
}

export interface BenchStorage {
  readonly engine: Engine
  readonly name: string
  /** Settings of a service that uses this database. */
  readonly environment: Readonly<Record<string, string>>
  readonly payer: Payer
  /** The SQLite file; undefined on PostgreSQL. */
  readonly file: string | undefined
  readonly url: string | undefined
  open(): Promise<Installation>
  /** Bytes on disk, including SQLite's WAL. */
  bytes(): Promise<number>
}

const password = 'correct horse 9'
const manyCredits = 1_000_000_000

/** A database that stays after the run, for the next one. */
export interface KeptDatabase {
  readonly folder: string
  readonly name: string
}

/** By the folder that they are kept in. */
const clusters = new Map<string | undefined, Promise<PostgresServer>>()
let databases = 0

/** One PostgreSQL server for the whole run, with durable commits as in production. */
async function durablePostgres(folder?: string): Promise<PostgresServer> {
  let cluster = clusters.get(folder)
  if (!cluster) {
    // Filling a large database would otherwise write checkpoints all the time.
    const kept =
      folder === undefined ? {} : { keepIn: join(folder, 'postgres'), settings: { max_wal_size: '4GB' } }
    clusters.set(folder, (cluster = startPostgres({ durable: true, ...kept })))
  }
  const postgres = await cluster
  recordPostgres(join(postgres.native, 'bin', 'postgres'))
  return postgres
}

/** Stops the PostgreSQL servers of this run. */
export async function stopPostgres(): Promise<void> {
  for (const cluster of clusters.values()) await (await cluster).stop()
}

/** Creates an empty database and drops it afterwards. The checkpoint keeps its pending writes out of later parts. */
export async function withPostgres(work: (url: string) => Promise<void>): Promise<void> {
  const postgres = await durablePostgres()
  const name = `bench_${(databases += 1)}`
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0`)
    await work(url.href)
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await client.query('CHECKPOINT')
  } finally {
    await client.end()
  }
}

async function withKeptPostgres(
  { folder, name }: KeptDatabase,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const postgres = await durablePostgres(folder)
  const url = new URL(postgres.url)
  url.pathname = `/kept_${name}`
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [`kept_${name}`])
    if (found.rowCount === 0) await client.query(`CREATE DATABASE kept_${name} TEMPLATE template0`)
  } finally {
    await client.end()
  }
  await work(url.href)
}

export async function withStorage(
  engine: Engine,
  work: (storage: BenchStorage) => Promise<void>,
  kept?: KeptDatabase,
): Promise<void> {
  const directory = kept
    ? join(kept.folder, `${engine}-${kept.name}`)
    : mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  if (kept) mkdirSync(directory, { recursive: true })
  const run = async (url?: string) => {
    const environment = { DATA_DIR: directory, ...(url === undefined ? {} : { DATABASE_URL: url }) }
    const open = () => openInstallation(readConfig(environment))
    const payer = await createPayer(open, 'bench')
    const file = url === undefined ? join(directory, 'tollgate.db') : undefined
    await work({
      engine,
      name: engineNames[engine],
      environment,
      payer,
      file,
      url,
      open,
      bytes: () => (file === undefined ? databaseSize(open) : Promise.resolve(fileSizes(file))),
    })
  }
  try {
    if (engine === 'sqlite') await run()
    else await (kept ? withKeptPostgres(kept, run) : withPostgres(run))
  } finally {
    if (!kept) rmSync(directory, { recursive: true, force: true })
  }
}

export async function onEngines(
  { scale }: { readonly scale: Pick<Scale, 'engines'> },
  work: (storage: BenchStorage) => Promise<void>,
): Promise<void> {
  for (const engine of scale.engines) await withStorage(engine, work)
}

/** Creates an account with enough credits, unless it exists. No service may be running on SQLite. */
export async function createPayer(open: () => Promise<Installation>, username: string): Promise<Payer> {
  const { db, secretKey, close } = await open()
  const known = await findByUsername(db, username)
  const account = known ?? (await createAccount(db, systemActor, { username, password }))
  const credits = createCredits(db, secretKey)
  for (const apiType of known ? [] : apiTypes)
    await credits.grant({ actor: systemActor, accountId: account.id, apiType, amount: manyCredits })
  const key = await resetKey(db, systemActor, account.id)
  await close()
  return { id: account.id, username: account.username, password, key }
}

function fileSizes(file: string): number {
  return [file, `${file}-wal`].reduce(
    (sum, one) => sum + (statSync(one, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

async function databaseSize(open: () => Promise<Installation>): Promise<number> {
  const { db, close } = await open()
  const row = await db.one<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes')
  await close()
  return row?.bytes ?? 0
}
