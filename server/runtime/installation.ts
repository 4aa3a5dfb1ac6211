// The installation behind every process: data folder, migrated database, and secret key.
import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Text } from '../../contract/text.ts'
import type { Config } from '../config.ts'
import type { OnDatabaseError } from '../db/after-commit.ts'
import { type Database, DatabaseUnavailable } from '../db/database.ts'
import { migrate, SchemaMismatch } from '../db/migrate.ts'
import { codeOf, hasNoTls } from '../db/postgres-errors.ts'
import type { Pooling } from '../db/postgres-pooler.ts'
import { findSetting, insertSetting } from '../db/setting-store.ts'
import { openSqlite } from '../db/sqlite.ts'
import {
  createDatabaseFile,
  createPrivateFile,
  databaseName,
  restrictExistingFiles,
  secretName,
} from './private-files.ts'

export interface Installation {
  readonly db: Database
  /** Whether link changes made by other processes are received; if not, links are not cached. */
  readonly isListening: boolean
  readonly secretKey: string
  readonly migrated: readonly string[]
  close(): Promise<void>
}

/** A problem that the operator can solve. Its message is the one line that is printed. */
export class StartProblem extends Error {
  /** True if every further start fails too, until the operator changes a setting. */
  readonly isPermanent: boolean = false

  constructor(zh: string, en: string, cause?: unknown) {
    super(`${zh} / ${en}`, { cause })
    this.name = 'StartProblem'
  }
}

/** A setting, or the secret or the database it names, that does not fit this installation. */
export class PermanentProblem extends StartProblem {
  override readonly isPermanent = true
}

export interface OpenOptions {
  readonly onDatabaseError?: OnDatabaseError
  /** Skips the check of SECRET_KEY. A restore replaces the database and checks the key against the backup itself. */
  readonly skipSecretCheck?: boolean
}

export async function openInstallation(config: Config, options: OpenOptions = {}): Promise<Installation> {
  const directory = resolve(config.DATA_DIR)
  prepareDirectory(directory)
  const { db, isListening } = await openDatabase(config, directory, options)
  try {
    const migrated = await migrate(db).catch((error: unknown) => {
      throw databaseProblem(config, error)
    })
    const secretKey = config.SECRET_KEY ?? readOrCreateSecret(directory)
    if (!options.skipSecretCheck) await requireSameSecret(db, secretKey)
    return { db, isListening, secretKey, migrated, close: () => db.close() }
  } catch (error) {
    await db.close()
    throw error
  }
}

function prepareDirectory(directory: string): void {
  try {
    createDirectory(directory)
    accessSync(directory, constants.W_OK)
    restrictExistingFiles(directory)
  } catch (error) {
    throw new StartProblem(`数据目录 ${directory} 不可写`, `DATA_DIR is not writable`, error)
  }
}

/** Creates one level at a time: Node's `recursive` option hangs in folders such as /proc. */
function createDirectory(directory: string): void {
  if (existsSync(directory)) return
  createDirectory(dirname(directory))
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it at the same time.
    if (!existsSync(directory)) throw error
  }
}

type OpenedDatabase = Pick<Installation, 'db' | 'isListening'>

async function openDatabase(
  config: Config,
  directory: string,
  options: OpenOptions,
): Promise<OpenedDatabase> {
  const acknowledgeEarly = isFaultInjected(process.env)
  const onError = options.onDatabaseError
  try {
    if (config.DATABASE_URL) return await openPostgresDatabase(config, config.DATABASE_URL, onError)
    const file = join(directory, databaseName)
    createDatabaseFile(file)
    // SQLite opens a file that it cannot write to, and the first write would fail without naming it.
    accessSync(file, constants.R_OK | constants.W_OK)
    const db = openSqlite(file, { acknowledgeEarly, onError })
    return { db, isListening: true }
  } catch (error) {
    throw databaseProblem(config, error)
  }
}

async function openPostgresDatabase(
  config: Config,
  url: string,
  onError: OnDatabaseError | undefined,
): Promise<OpenedDatabase> {
  // A service on SQLite does not load the driver of PostgreSQL.
  const [{ openPostgres }, { findPooling }] = await Promise.all([
    import('../db/postgres.ts'),
    import('../db/postgres-pooler.ts'),
  ])
  const pooling = await findPooling(url)
  const problem = findPoolingProblem(pooling)
  if (problem) throw new StartProblem(problem.zh, problem.en)
  const direct = config.DATABASE_DIRECT_URL
  if (direct) requireDirect(await findPooling(direct))
  const isListening = direct !== undefined || pooling !== 'transaction'
  const listenUrl = isListening ? (direct ?? url) : false
  const db = openPostgres(url, { poolSize: config.DATABASE_POOL, listenUrl, onError })
  return { db, isListening }
}

/** Notifications are received in a session, so the URL must keep one. */
function requireDirect(pooling: Pooling): void {
  if (pooling !== 'direct' && pooling !== 'session') {
    throw new StartProblem(
      'DATABASE_DIRECT_URL 也经过事务模式的连接池，必须直连 PostgreSQL',
      'DATABASE_DIRECT_URL goes through a pooler in transaction mode too; it must reach PostgreSQL itself',
    )
  }
}

export function findPoolingProblem(pooling: Pooling): Text | undefined {
  if (pooling !== 'unsupported') return undefined
  return {
    zh: 'DATABASE_URL 经过的连接池（事务模式）不支持预备语句：请用 PgBouncer 1.21 以上并设置 max_prepared_statements，或 pool_mode = session',
    en: 'the connection pooler in transaction mode does not support prepared statements: use PgBouncer 1.21 or later with max_prepared_statements, or pool_mode = session',
  }
}

/** For the console's reports (3), notifications, the click thread and health checks; see `docs/operations.md`. */
const extraConnections = 6

/** The maximum of connections that a process opens to PostgreSQL. */
export function maxConnections(config: Config): number {
  return config.DATABASE_URL ? config.DATABASE_POOL + extraConnections : 0
}

/**
 * The fault suite proves that it can fail by acknowledging writes before they are durable. This cannot be switched on by
 * accident: it needs both variables, is rejected in production, and is never read from a `.env` file.
 */
export function isFaultInjected(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { TOLLGATE_BREAK: fault, TOLLGATE_BREAK_I_MEAN_IT: confirmed, NODE_ENV: nodeEnv } = environment
  if (fault === undefined || fault === '') return false
  if (fault === 'ack-before-commit' && confirmed === 'yes' && nodeEnv !== 'production') {
    process.emitWarning('TOLLGATE_BREAK is set: acknowledged writes may be lost')
    return true
  }
  throw new PermanentProblem(
    'TOLLGATE_BREAK 仅供故障测试使用，会丢失数据，请取消设置',
    'TOLLGATE_BREAK is for the fault suite only and loses data: unset it',
  )
}

const loginRejected = {
  zh: '用户名或密码错误，或不允许登录',
  en: 'wrong user or password, or login not allowed',
}

const untrusted = {
  zh: '证书不受信任，见 sslrootcert',
  en: 'the certificate is not trusted, see sslrootcert',
}

/** Explanations of the most common connection errors. */
const postgresReasons: Readonly<Record<string, Text>> = {
  '28000': loginRejected,
  '28P01': loginRejected,
  '3D000': { zh: '数据库不存在', en: 'the database does not exist' },
  '42501': { zh: '没有建表的权限', en: 'no permission to create tables' },
  '53300': { zh: '连接数已满，见 DATABASE_POOL', en: 'it has no free connections, see DATABASE_POOL' },
  '08P01': { zh: '连接池拒绝了连接参数', en: 'the pooler rejects a parameter of the connection' },
  NO_TLS: { zh: '服务器不支持 TLS', en: 'the server does not support TLS' },
  ERR_TLS_CERT_ALTNAME_INVALID: { zh: '证书与主机名不符', en: 'the certificate is for another host' },
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ECONNREFUSED: { zh: '该地址没有数据库响应', en: 'connection refused' },
  ENOTFOUND: { zh: '找不到该主机', en: 'host not found' },
}

function databaseProblem(config: Config, error: unknown): StartProblem {
  if (error instanceof StartProblem) return error
  if (error instanceof SchemaMismatch) return new PermanentProblem(error.text.zh, error.text.en, error)
  const reason = error instanceof Error ? error.message : String(error)
  const cause = error instanceof DatabaseUnavailable ? error.cause : error
  const known = postgresReasons[hasNoTls(cause) ? 'NO_TLS' : codeOf(cause)]
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

function readOrCreateSecret(directory: string): string {
  const file = join(directory, secretName)
  try {
    if (!existsSync(file)) {
      // If two processes start at the same time, the second one fails here and reads what the first one wrote.
      createPrivateFile(file, `${randomBytes(32).toString('base64url')}\n`)
    }
  } catch (error) {
    if (!existsSync(file)) throw new StartProblem(`无法写入 ${file}`, 'cannot write the secret key', error)
  }
  const secret = readSecret(file)
  // A full disk or a kill may have truncated the file, and a short key would make every hash weak.
  if (secret.length < 32) {
    throw new PermanentProblem(
      `${file} 不完整，请恢复原文件；全新安装可删除后重新启动`,
      'the secret key is truncated: restore the file, or delete it on a new installation',
    )
  }
  return secret
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartProblem(`无法读取 ${file}`, `the secret key cannot be read: ${reason}`, error)
  }
}

export const fingerprintName = 'secret_key_fingerprint'

export function fingerprintOf(secretKey: string): string {
  return createHash('sha256').update(`tollgate fingerprint ${secretKey}`).digest('hex').slice(0, 32)
}

/** Processes with different keys could not read each other's hashes and sessions. */
async function requireSameSecret(db: Database, secretKey: string): Promise<void> {
  const fingerprint = fingerprintOf(secretKey)
  if ((await findSetting(db, fingerprintName)) === undefined) {
    await db.write((tx) => insertSetting(tx, fingerprintName, fingerprint))
  }
  if ((await findSetting(db, fingerprintName)) !== fingerprint) {
    throw new PermanentProblem(
      'SECRET_KEY 与数据库中登记的不一致，多台机器必须使用同一个',
      'SECRET_KEY differs from the one this database was set up with',
    )
  }
}

/** Derives a separate secret for each purpose. */
export function deriveSecret(secretKey: string, purpose: string): string {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `tollgate ${purpose}`, 24)).toString('base64url')
}
