// A backup is one compressed file of JSON lines. Both engines write the same format and can restore each other's files.
//
//   {"tollgate_backup":1,"version":"0.2.0","migrations":[…]}   the version that wrote it, and the schema it needs
//   {"table":"account","columns":[…]}           followed by one line for each row, with its values in this order
//   […]
//   {"end":123}                                 the number of rows; a file without this line is incomplete
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { listMigrations, listTables } from '../db/catalog.ts'
import type { Database, Snapshot, Value } from '../db/database.ts'
import project from '../../package.json' with { type: 'json' }
import { AppError } from '../http/errors.ts'

export interface BackupReport {
  readonly file: string
  readonly tables: number
  readonly rows: number
}

/** Writes to another file and renames it at the end, so that the target is never an incomplete backup. */
export async function writeBackup(db: Database, file: string): Promise<BackupReport> {
  const partial = `${file}.part`
  const counts = { tables: 0, rows: 0 }
  try {
    await db.snapshot((snapshot) =>
      pipeline(
        Readable.from(backupLines(snapshot, counts)),
        createGzip(),
        createWriteStream(partial, { mode: 0o600, flush: true }),
      ),
    )
    await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    const code = fileErrorCode(error)
    if (code === undefined) throw error
    const text = { zh: `无法写入 ${file}`, en: `${file} cannot be written (${code})` }
    throw new AppError(1002, text, { cause: error })
  }
  return { file, ...counts }
}

/** The code of a file system error; undefined for other errors. */
export function fileErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'path' in error && 'code' in error
    ? String(error.code)
    : undefined
}

async function* backupLines(
  snapshot: Snapshot,
  counts: { tables: number; rows: number },
): AsyncGenerator<string> {
  yield line({ tollgate_backup: 1, version: project.version, migrations: await listMigrations(snapshot) })
  for (const table of await listTables(snapshot)) {
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
