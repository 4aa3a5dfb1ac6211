// Replaces the content of the database by a backup, in one transaction.
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { advanceIdentities, listColumns, listMigrations, listTables } from '../db/catalog.ts'
import type { Database, Tx, Value } from '../db/database.ts'
import { isRejectedData, lock } from '../db/dialect.ts'
import { migrationLock } from '../db/migrate.ts'
import { findSetting } from '../db/setting-store.ts'
import { AppError } from '../http/errors.ts'
import { decideDueAfterRestore } from '../sms/batches/store.ts'
import { fingerprintName, fingerprintOf } from '../runtime/installation.ts'
import { listProcesses, processTimeoutMs } from '../runtime/process-store.ts'
import { fileErrorCode } from './backup-store.ts'

/** PostgreSQL accepts at most 65,535 values in a statement; our widest table has about twenty columns. */
const rowsPerInsert = 200

/** The rows of one statement are held in memory together. */
const charactersPerInsert = 4_194_304

/** Far above every row that we write: request bodies have at most 1 MiB, stored responses less. */
const maxLineLength = 16_777_216

/** The format that this version reads and writes. */
const format = 1

interface HeaderLine {
  readonly tollgate_backup: number
  readonly version?: string
  readonly migrations: readonly string[]
}

interface TableLine {
  readonly table: string
  readonly columns: readonly string[]
}

export interface RestoreOptions {
  /** The secret of this installation; a backup of an installation with another secret is rejected. */
  readonly secretKey: string
  readonly force: boolean
}

export async function restoreBackup(
  db: Database,
  file: string,
  { secretKey, force }: RestoreOptions,
): Promise<{ rows: number }> {
  await requireReadable(file)
  return db.write(async (tx) => {
    await tx.removeTimeLimit()
    // A process that starts now waits for the end of the restore.
    await lock(tx, migrationLock)
    const tables = await listTables(tx)
    const [accounts] = await tx.all<{ count: number }>('SELECT COUNT(*) AS count FROM account')
    if (!force && (accounts?.count ?? 0) > 0) {
      throw problem(
        '数据库非空，覆盖必须加 --force',
        'the database is not empty; use --force to overwrite it',
      )
    }
    await requireNoProcess(tx)
    for (const table of tables.toReversed()) await tx.run(`DELETE FROM "${table}"`)

    const rows = await insertAll(tx, file, tables)

    if ((await findSetting(tx, fingerprintName)) !== fingerprintOf(secretKey)) {
      throw problem(
        '备份来自 SECRET_KEY 不同的部署，请先设置相同的 SECRET_KEY（或复制其 secret.key）',
        'the backup belongs to another SECRET_KEY; set that one (or copy its secret.key) first',
      )
    }
    await advanceIdentities(tx, tables)
    await decideDueAfterRestore(tx)
    return { rows }
  })
}

/** A running process keeps links, keys and limits in memory, and would continue with those of the replaced data. */
async function requireNoProcess(tx: Tx): Promise<void> {
  const { length } = await listProcesses(tx)
  if (length === 0) return
  const seconds = processTimeoutMs / 1000
  throw problem(
    `有 ${length} 个服务进程正在使用该数据库，请先停止服务（被强制终止的进程 ${seconds} 秒后不再计入）`,
    `${length} processes of the service use this database; stop them first (a killed one counts for ${seconds} s)`,
  )
}

async function insertAll(tx: Tx, file: string, tables: readonly string[]): Promise<number> {
  let target: TableLine | undefined
  let pending: Value[][] = []
  let pendingCharacters = 0
  let inserted = 0
  let rowsOfTarget = 0
  let end: number | undefined

  async function flush(): Promise<void> {
    if (pending.length === 0 || !target) return
    await insertRows(tx, target, pending)
    inserted += pending.length
    pending = []
    pendingCharacters = 0
  }

  async function beginTable(line: unknown): Promise<void> {
    await flush()
    // We write no table without rows, and a forged file of such lines would never end.
    if (target && rowsOfTarget === 0) throw brokenFile()
    target = await readTableLine(tx, line, tables)
    rowsOfTarget = 0
  }

  let isFirst = true
  for await (const text of readLines(file)) {
    const line = parseLine(text)
    if (isFirst) await requireSameSchema(tx, readHeader(line))
    else if (end !== undefined) throw brokenFile()
    else if (Array.isArray(line)) {
      if (!target) throw brokenFile()
      pending.push(readRow(line, target.columns.length))
      pendingCharacters += text.length
      rowsOfTarget += 1
      if (pending.length === rowsPerInsert || pendingCharacters > charactersPerInsert) await flush()
    } else if ('end' in line) {
      await flush()
      end = Number(line.end)
    } else await beginTable(line)
    isFirst = false
  }
  if (end !== inserted) throw brokenFile()
  return inserted
}

async function insertRows(tx: Tx, { table, columns }: TableLine, rows: readonly Value[][]): Promise<void> {
  const names = columns.map((name) => `"${name}"`).join(', ')
  const row = `(${columns.map(() => '?').join(', ')})`
  try {
    await tx.run(`INSERT INTO "${table}" (${names}) VALUES ${rows.map(() => row).join(', ')}`, rows.flat())
  } catch (error) {
    throw isRejectedData(error) ? brokenFile(error) : error
  }
}

/** The lines of the file. A line without an end is an error. */
async function* readLines(file: string): AsyncGenerator<string> {
  const plain = createGunzip().setEncoding('utf8')
  // An error of the file becomes an error of the stream, which the loop below throws.
  pipeline(createReadStream(file), plain, () => undefined)
  let parts: string[] = []
  let length = 0
  let number = 1
  try {
    for await (const chunk of plain as AsyncIterable<string>) {
      let start = 0
      for (let at = chunk.indexOf('\n'); at !== -1; at = chunk.indexOf('\n', start)) {
        parts.push(chunk.slice(start, at))
        yield parts.join('')
        parts = []
        length = 0
        number += 1
        start = at + 1
      }
      parts.push(chunk.slice(start))
      length += chunk.length - start
      if (length > maxLineLength) throw lineTooLong(number)
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    const code = fileErrorCode(error)
    throw code ? problem(`无法读取 ${file}`, `${file} cannot be read (${code})`, error) : brokenFile(error)
  }
  if (length > 0) throw brokenFile()
}

function parseLine(text: string): object {
  try {
    const line: unknown = JSON.parse(text)
    if (typeof line === 'object' && line !== null) return line
  } catch (error) {
    throw brokenFile(error)
  }
  throw brokenFile()
}

function readHeader(line: object): HeaderLine {
  const { tollgate_backup: number, version, migrations } = line as Partial<HeaderLine>
  if (typeof number !== 'number' || !isTexts(migrations)) throw brokenFile()
  return { tollgate_backup: number, migrations, ...(typeof version === 'string' && { version }) }
}

async function readTableLine(tx: Tx, line: unknown, tables: readonly string[]): Promise<TableLine> {
  const { table, columns } = line as Partial<TableLine>
  if (table === undefined || !tables.includes(table) || !isTexts(columns)) throw brokenFile()
  const known = await listColumns(tx, table)
  if (columns.length === 0 || !columns.every((name) => known.includes(name))) throw brokenFile()
  return { table, columns }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function readRow(line: readonly unknown[], length: number): Value[] {
  if (line.length !== length) throw brokenFile()
  return line.map(decode)
}

/** Version 0.1.0 wrote no version into its backups. */
async function requireSameSchema(
  tx: Tx,
  { tollgate_backup: number, version = '0.1.0', migrations }: HeaderLine,
): Promise<void> {
  const own = await listMigrations(tx)
  if (number !== format || own.join() !== migrations.join()) {
    throw problem(
      `备份的数据库结构与本版本不同，可读取它的版本是 ${version}`,
      `the backup has another schema; version ${version} can read it`,
    )
  }
}

function decode(value: unknown): Value {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  if (typeof value === 'object' && 'base64' in value && typeof value.base64 === 'string') {
    return Buffer.from(value.base64, 'base64')
  }
  throw brokenFile()
}

/** Fails before anything is deleted if the file is not a backup. */
async function requireReadable(file: string): Promise<void> {
  for await (const text of readLines(file)) {
    readHeader(parseLine(text))
    return
  }
  throw brokenFile()
}

function lineTooLong(number: number): AppError {
  return problem(
    `备份文件第 ${number} 行过长，不是 Tollgate 备份`,
    `line ${number} of the backup is too long for a Tollgate backup`,
  )
}

function brokenFile(cause?: unknown): AppError {
  return problem('不是完整的 Tollgate 备份文件', 'this is not a whole Tollgate backup', cause)
}

function problem(zh: string, en: string, cause?: unknown): AppError {
  return new AppError(1002, { zh, en }, { cause })
}
