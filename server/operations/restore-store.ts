// Replaces the content of the database by a backup, in one transaction.
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { advanceIdentities, listMigrations, listTables } from '../db/catalog.ts'
import type { Database, Tx, Value } from '../db/database.ts'
import { findSetting } from '../db/setting-store.ts'
import { AppError } from '../http/errors.ts'
import { fingerprintName, fingerprintOf } from '../runtime/installation.ts'
import { fileErrorCode } from './backup-store.ts'

/** PostgreSQL accepts at most 65,535 values in a statement; our widest table has about twenty columns. */
const rowsPerInsert = 200

type Line =
  | { readonly tollgate_backup: number; readonly version?: string; readonly migrations: readonly string[] }
  | { readonly table: string; readonly columns: readonly string[] }
  | { readonly end: number }
  | readonly unknown[]

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
    const tables = await listTables(tx)
    const [accounts] = await tx.all<{ count: number }>('SELECT COUNT(*) AS count FROM account')
    if (!force && (accounts?.count ?? 0) > 0) {
      throw problem('数据库非空，覆盖须加 --force', 'the database is not empty; use --force to overwrite it')
    }
    for (const table of tables.toReversed()) await tx.run(`DELETE FROM "${table}"`)

    const rows = await insertAll(tx, file, tables)

    if ((await findSetting(tx, fingerprintName)) !== fingerprintOf(secretKey)) {
      throw problem(
        '备份来自使用另一个 SECRET_KEY 的安装，请先设置同一个（或复制其 secret.key）',
        'the backup belongs to another SECRET_KEY; set that one (or copy its secret.key) first',
      )
    }
    await advanceIdentities(tx, tables)
    return { rows }
  })
}

async function insertAll(tx: Tx, file: string, tables: readonly string[]): Promise<number> {
  let target: { readonly table: string; readonly columns: readonly string[] } | undefined
  let pending: Value[][] = []
  let inserted = 0
  let end: number | undefined

  async function flush(): Promise<void> {
    if (pending.length > 0 && target) {
      const rows = pending
      pending = []
      const columns = target.columns.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ')
      const row = `(${target.columns.map(() => '?').join(', ')})`
      await tx.run(
        `INSERT INTO "${target.table}" (${columns}) VALUES ${rows.map(() => row).join(', ')}`,
        rows.flat(),
      )
      inserted += rows.length
    }
  }

  for await (const item of readLines(file)) {
    if (Array.isArray(item)) {
      if (!target) throw brokenFile()
      pending.push(target.columns.map((_, index) => decode(item[index])))
      if (pending.length === rowsPerInsert) await flush()
    } else if ('table' in item) {
      await flush()
      if (!tables.includes(item.table)) throw brokenFile()
      target = item
    } else if ('tollgate_backup' in item) {
      await requireSameSchema(tx, item)
    } else if ('end' in item) {
      end = item.end
    }
  }
  await flush()
  if (end !== inserted) throw brokenFile()
  return inserted
}

async function* readLines(file: string): AsyncGenerator<Line> {
  const plain = createGunzip().setEncoding('utf8')
  // An error of the file becomes an error of the stream, which the loop below throws.
  pipeline(createReadStream(file), plain, () => undefined)
  try {
    let rest = ''
    for await (const chunk of plain) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) yield JSON.parse(text) as Line
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    const code = fileErrorCode(error)
    throw code ? problem(`无法读取 ${file}`, `${file} cannot be read (${code})`, error) : brokenFile(error)
  }
}

/** Version 0.1.0 wrote no version into its backups. */
async function requireSameSchema(
  tx: Tx,
  { version = '0.1.0', migrations }: { version?: string; migrations: readonly string[] },
): Promise<void> {
  const own = await listMigrations(tx)
  if (own.join() !== migrations.join()) {
    throw problem(
      `备份的数据库结构与本版本不同，可读取它的版本是 ${version}`,
      `the backup has another schema; version ${version} can read it`,
    )
  }
}

function decode(value: unknown): Value {
  if (typeof value === 'object' && value !== null && 'base64' in value) {
    return Buffer.from(String(value.base64), 'base64')
  }
  return value as Value
}

async function requireReadable(file: string): Promise<void> {
  for await (const item of readLines(file)) {
    if ('tollgate_backup' in item && item.tollgate_backup === 1) return
    break
  }
  throw brokenFile()
}

function brokenFile(cause?: unknown): AppError {
  return problem('不是完整的 Tollgate 备份文件', 'this is not a whole Tollgate backup', cause)
}

function problem(zh: string, en: string, cause?: unknown): AppError {
  return new AppError(1002, { zh, en }, { cause })
}
