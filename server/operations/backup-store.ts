// A backup is one compressed file of JSON lines, the same for both engines: what one writes the other can restore.
//
//   {"tollgate_backup":1,"version":"0.2.0","migrations":[…]}   the version that wrote it, and the schema it needs
//   {"table":"account","columns":[…]}           then a line for each row, values in this order
//   […]
//   {"end":123}                                 the number of rows: without this line the file is cut short
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Database, Engine, Snapshot, Value } from '../db/database.ts'
import project from '../../package.json' with { type: 'json' }
import { AppError } from '../http/errors.ts'

/** Creation order, so that a table comes after those it refers to. Unlogged tables hold nothing worth keeping. */
const tableQueries: Record<Engine, string> = {
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
  postgres: `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relpersistence = 'p'
    AND relnamespace = current_schema()::regnamespace ORDER BY oid`,
}

export async function listTables(snapshot: Pick<Snapshot, 'all'>, engine: Engine): Promise<string[]> {
  const rows = await snapshot.all<{ name: string }>(tableQueries[engine])
  return rows.map((row) => row.name).filter((name) => name !== 'migration')
}

export async function listMigrations(snapshot: Pick<Snapshot, 'all'>): Promise<string[]> {
  const rows = await snapshot.all<{ name: string }>('SELECT name FROM migration ORDER BY name')
  return rows.map((row) => row.name)
}

export interface BackupReport {
  readonly file: string
  readonly tables: number
  readonly rows: number
}

/** Writes beside the target and renames at the end: the target is a whole backup or what it was before. */
export async function writeBackup(db: Database, file: string): Promise<BackupReport> {
  const draft = `${file}.part`
  const counts = { tables: 0, rows: 0 }
  try {
    await db.snapshot((snapshot) =>
      pipeline(
        Readable.from(linesOf(snapshot, db.engine, counts)),
        createGzip(),
        createWriteStream(draft, { mode: 0o600, flush: true }),
      ),
    )
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    const code = fileErrorCode(error)
    if (code === undefined) throw error
    const text = { zh: `无法写入 ${file}`, en: `${file} cannot be written (${code})` }
    throw new AppError(1002, text, { cause: error })
  }
  return { file, ...counts }
}

/** What the file system said, if it was the one that failed. */
export function fileErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'path' in error && 'code' in error
    ? String(error.code)
    : undefined
}

async function* linesOf(
  snapshot: Snapshot,
  engine: Engine,
  counts: { tables: number; rows: number },
): AsyncGenerator<string> {
  yield line({ tollgate_backup: 1, version: project.version, migrations: await listMigrations(snapshot) })
  for (const table of await listTables(snapshot, engine)) {
    counts.tables += 1
    for await (const page of snapshot.rows(table)) {
      const columns = Object.keys(page[0] ?? {})
      yield line({ table, columns })
      yield page.map((row) => line(columns.map((name) => encode(row[name] ?? null)))).join('')
      counts.rows += page.length
    }
  }
  yield line({ end: counts.rows })
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

function encode(value: Value): unknown {
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value
}
