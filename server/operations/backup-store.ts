// A backup is one compressed file of JSON lines. Both engines write the same format and can restore each other's files.
//
//   {"tollgate_backup":1,"version":"0.2.0","migrations":[…]}   the version that wrote it, and the schema it needs
//   {"table":"account","columns":[…]}           followed by one line for each row, with its values in this order
//   […]
//   {"end":123}                                 the number of rows; a file without this line is incomplete
import { type FileHandle, lstat, open, rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { listMigrations, listTables } from '../db/catalog.ts'
import type { Database, Snapshot, Value } from '../db/database.ts'
import project from '../../package.json' with { type: 'json' }
import { AppError } from '../http/errors.ts'
import { newFileFlags, privateMode, syncFolderOf } from '../runtime/private-files.ts'

export interface BackupReport {
  readonly file: string
  readonly tables: number
  readonly rows: number
}

interface BackupCounts {
  tables: number
  rows: number
}

/**
 * Writes to another file and renames it at the end, so that the target is never an incomplete backup. Neither file keeps
 * anything of what another user may have put there before: content, owner, mode or link.
 */
export async function writeBackup(db: Database, file: string): Promise<BackupReport> {
  const partial = `${file}.part`
  const counts: BackupCounts = { tables: 0, rows: 0 }
  let output: FileHandle | undefined
  await requireReplaceable(file)
  try {
    await rm(partial, { force: true })
    output = await open(partial, newFileFlags, privateMode)
    await writeRows(db, output, counts)
    await output.sync()
    await requireUnchanged(output, partial)
    await rename(partial, file)
    syncFolderOf(file)
  } catch (error) {
    if (output && (await isSameFile(output, partial))) await rm(partial, { force: true })
    const code = error instanceof WriteFailure ? error.code : fileErrorCode(error)
    if (code === undefined) throw error
    const text = { zh: `无法写入 ${file}`, en: `${file} cannot be written (${code})` }
    throw new AppError(1002, text, { cause: error })
  } finally {
    await output?.close()
  }
  return { file, ...counts }
}

/** The file could not be written, as distinct from an error of the database that is read. */
class WriteFailure extends Error {
  readonly code: string
  constructor(cause: unknown) {
    super('failed to write', { cause })
    this.code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
  }
}

async function writeRows(db: Database, output: FileHandle, counts: BackupCounts): Promise<void> {
  await db.snapshot((snapshot) =>
    pipeline(Readable.from(backupLines(snapshot, counts)), createGzip(), async (chunks) => {
      for await (const chunk of chunks) {
        await output.writeFile(chunk as Uint8Array).catch((error: unknown) => {
          throw new WriteFailure(error)
        })
      }
    }),
  )
}

/** A rename would replace a device such as /dev/null or /dev/stdout for the whole machine. */
async function requireReplaceable(file: string): Promise<void> {
  const existing = await stat(file).catch(() => undefined)
  if (existing === undefined || existing.isFile()) return
  throw new AppError(1002, {
    zh: `无法写入 ${file}，它不是文件`,
    en: `${file} cannot be written: it is not a file`,
  })
}

/** Another backup to the same file replaces the partial file, which is then not ours to rename. */
async function requireUnchanged(output: FileHandle, partial: string): Promise<void> {
  if (await isSameFile(output, partial)) return
  throw new AppError(1002, {
    zh: `另一个备份正在写入同一文件：${partial}`,
    en: `another backup is writing to the same file: ${partial}`,
  })
}

async function isSameFile(output: FileHandle, path: string): Promise<boolean> {
  const [ours, there] = await Promise.all([
    output.stat({ bigint: true }),
    lstat(path, { bigint: true }).catch(() => undefined),
  ])
  return there?.ino === ours.ino && there.dev === ours.dev
}

/** The code of a file system error; undefined for other errors. */
export function fileErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'path' in error && 'code' in error
    ? String(error.code)
    : undefined
}

async function* backupLines(snapshot: Snapshot, counts: BackupCounts): AsyncGenerator<string> {
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
