// A temporary database on either engine, with one account that has enough credits.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { systemActor } from '../server/audit/audit.ts'
import { apiTypes } from '../contract/credits.ts'
import { createAccount, resetKey } from '../server/accounts/accounts.ts'
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

let cluster: Promise<PostgresServer> | undefined
let databases = 0

/** One PostgreSQL server for the whole run, with durable commits as in production. */
async function durablePostgres(): Promise<PostgresServer> {
  const postgres = await (cluster ??= startPostgres({ durable: true }))
  recordPostgres(join(postgres.native, 'bin', 'postgres'))
  return postgres
}

/** Stops the PostgreSQL server of this run, if there is one. */
export async function stopPostgres(): Promise<void> {
  await (await cluster)?.stop()
}

/** Creates an empty database and drops it afterwards. The checkpoint keeps its pending writes out of later parts. */
export async function withPostgres(work: (url: string) => Promise<void>): Promise<void> {
  const postgres = await durablePostgres()
  const url = new URL(postgres.url)
  url.pathname = `/bench_${(databases += 1)}`
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  try {
    await client.query(`CREATE DATABASE bench_${databases} TEMPLATE template0`)
    await work(url.href)
    await client.query(`DROP DATABASE bench_${databases} WITH (FORCE)`)
    await client.query('CHECKPOINT')
  } finally {
    await client.end()
  }
}

export async function withStorage(
  engine: Engine,
  work: (storage: BenchStorage) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
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
    await (engine === 'postgres' ? withPostgres(run) : run())
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

export async function onEngines(
  { scale }: { readonly scale: Pick<Scale, 'engines'> },
  work: (storage: BenchStorage) => Promise<void>,
): Promise<void> {
  for (const engine of scale.engines) await withStorage(engine, work)
}

/** Creates an account with enough credits. No service may be running on SQLite. */
export async function createPayer(open: () => Promise<Installation>, username: string): Promise<Payer> {
  const { db, secretKey, close } = await open()
  const account = await createAccount(db, systemActor, { username, password })
  const credits = createCredits(db, secretKey)
  for (const apiType of apiTypes)
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
