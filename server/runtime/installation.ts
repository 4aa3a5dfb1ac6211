// What stands behind every process: the data folder, the database brought up to date, and the installation's secret.
import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Text } from '../../contract/text.ts'
import type { Config } from '../config.ts'
import type { OnDatabaseError } from '../db/after-commit.ts'
import type { Database } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { openPostgres } from '../db/postgres.ts'
import { findSetting, insertSetting } from '../db/setting-store.ts'
import { openSqlite } from '../db/sqlite.ts'

export interface Installation {
  readonly db: Database
  readonly secretKey: string
  readonly migrated: readonly string[]
  close(): Promise<void>
}

/** A problem the operator can solve; its message is the one line that is shown. */
export class StartProblem extends Error {
  constructor(zh: string, en: string, cause?: unknown) {
    super(`${zh} / ${en}`, { cause })
    this.name = 'StartProblem'
  }
}

export interface OpenOptions {
  readonly onDatabaseError?: OnDatabaseError
  /** For a restore, which puts another content in place of this one: it looks itself that the secret fits that. */
  readonly anySecret?: boolean
}

export async function openInstallation(config: Config, options: OpenOptions = {}): Promise<Installation> {
  const directory = resolve(config.DATA_DIR)
  prepareDirectory(directory)
  const db = openDatabase(config, directory, options)
  try {
    const migrated = await migrate(db).catch((error: unknown) => {
      throw databaseProblem(config, error)
    })
    const secretKey = config.SECRET_KEY ?? readOrMakeSecret(directory)
    if (!options.anySecret) await requireSameSecret(db, secretKey)
    return { db, secretKey, migrated, close: () => db.close() }
  } catch (error) {
    await db.close()
    throw error
  }
}

function prepareDirectory(directory: string): void {
  try {
    makeDirectory(directory)
    accessSync(directory, constants.W_OK)
  } catch (error) {
    throw new StartProblem(`数据目录 ${directory} 不可写`, `the folder DATA_DIR cannot be written`, error)
  }
}

/** One folder after the other: Node's own `recursive` never ends where a folder is there and takes none, as in /proc. */
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return
  makeDirectory(dirname(directory))
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    // Another process that starts at the same time may have been quicker.
    if (!existsSync(directory)) throw error
  }
}

function openDatabase(config: Config, directory: string, options: OpenOptions): Database {
  const acknowledgeEarly = isBrokenOnPurpose(process.env)
  if (config.DATABASE_URL) {
    return openPostgres(config.DATABASE_URL, { onError: options.onDatabaseError })
  }
  try {
    return openSqlite(join(directory, 'tollgate.db'), { acknowledgeEarly, onError: options.onDatabaseError })
  } catch (error) {
    throw databaseProblem(config, error)
  }
}

/**
 * The fault suite shows that it can fail by breaking the one promise everything rests on. No setting of anybody's turns
 * that on by accident: it takes both variables, it is refused in production, and it is never read from a `.env` file.
 */
export function isBrokenOnPurpose(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { TOLLGATE_BREAK: wish, TOLLGATE_BREAK_I_MEAN_IT: word, NODE_ENV: purpose } = environment
  if (wish === undefined || wish === '') return false
  if (wish === 'ack-before-commit' && word === 'yes' && purpose !== 'production') {
    process.emitWarning('TOLLGATE_BREAK is on: what is acknowledged may be lost')
    return true
  }
  throw new StartProblem(
    'TOLLGATE_BREAK 仅供故障测试使用，会丢失数据，请取消设置',
    'TOLLGATE_BREAK is for the fault suite only, it loses data: unset it',
  )
}

const refusedLogin = {
  zh: '用户名或密码不对，或不允许登录',
  en: 'wrong user or password, or no login allowed',
}

/** What a newcomer's PostgreSQL answers most, in words. */
const postgresReasons: Readonly<Record<string, Text>> = {
  '28000': refusedLogin,
  '28P01': refusedLogin,
  '3D000': { zh: '没有这个数据库', en: 'the database does not exist' },
  '42501': { zh: '没有建表的权限', en: 'no permission to make tables' },
  ECONNREFUSED: { zh: '该地址没有数据库应答', en: 'nothing answers at this address' },
  ENOTFOUND: { zh: '找不到这台主机', en: 'there is no such host' },
}

function databaseProblem(config: Config, error: unknown): StartProblem {
  const reason = error instanceof Error ? error.message : String(error)
  const known = postgresReasons[/^PostgreSQL: (\w+)$/.exec(reason)?.[1] ?? '']
  return config.DATABASE_URL
    ? new StartProblem(
        `无法使用 DATABASE_URL 指定的数据库${known ? `，${known.zh}` : ''}`,
        `the database cannot be used: ${known ? `${known.en} (${reason})` : reason}`,
        error,
      )
    : new StartProblem(
        '无法打开 DATA_DIR 中的 SQLite 文件',
        `the SQLite file cannot be used: ${reason}`,
        error,
      )
}

function readOrMakeSecret(directory: string): string {
  const file = join(directory, 'secret.key')
  try {
    if (!existsSync(file)) {
      // `wx`: when two processes start at once, the second one reads what the first has written.
      writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
    }
  } catch (error) {
    if (!existsSync(file)) throw new StartProblem(`无法写入 ${file}`, 'the secret cannot be written', error)
  }
  const secret = readFileSync(file, 'utf8').trim()
  // Shorter than what is written here: a full disk or a kill has cut it, and all hashes would hang on next to nothing.
  if (secret.length < 32) {
    throw new StartProblem(
      `${file} 不完整，请放回原来的；全新安装可删除它再启动`,
      'the secret is cut short: put the old one back, or remove it on a new installation',
    )
  }
  return secret
}

export const fingerprintName = 'secret_key_fingerprint'

export function fingerprintOf(secretKey: string): string {
  return createHash('sha256').update(`tollgate fingerprint ${secretKey}`).digest('hex').slice(0, 32)
}

/** Two processes with different secrets would not find each other's hashes and sessions. */
async function requireSameSecret(db: Database, secretKey: string): Promise<void> {
  const fingerprint = fingerprintOf(secretKey)
  await db.write((tx) => insertSetting(tx, fingerprintName, fingerprint))
  if ((await findSetting(db, fingerprintName)) !== fingerprint) {
    throw new StartProblem(
      'SECRET_KEY 与数据库中登记的不一致，多台机器须使用同一个',
      'SECRET_KEY is not the one this database was set up with',
    )
  }
}

/** A secret of its own for each purpose, all from the one that is kept. */
export function deriveSecret(secretKey: string, purpose: string): string {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `tollgate ${purpose}`, 24)).toString('base64url')
}
