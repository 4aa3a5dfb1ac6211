// Checks the data folder, its files, free space, the secret key, the database, its schema and its clock.
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { byEngine } from '../../server/db/dialect.ts'
import { minuteMs } from '../../contract/time.ts'
import type { Config } from '../../server/config.ts'
import type { Database } from '../../server/db/database.ts'
import { findAppliedMigrations, findSchemaProblem } from '../../server/db/migrate.ts'
import { migrations } from '../../server/db/migrations/list.ts'
import { openPostgres } from '../../server/db/postgres.ts'
import { findPooling } from '../../server/db/postgres-pooler.ts'
import { openSqlite } from '../../server/db/sqlite.ts'
import { writeHeartbeat } from '../../server/operations/readiness-store.ts'
import { findPoolingProblem } from '../../server/runtime/installation.ts'
import { databaseName, isOpenToOthers, secretName } from '../../server/runtime/private-files.ts'
import { checkConnections, poolerAdvice } from './connections.ts'
import { checkFiles } from './files.ts'
import { type Finding, ok, describeReason, reportProblem } from './finding.ts'

const mebibyte = 1_048_576
const minFreeBytes = 200 * mebibyte
const goodFreeBytes = 2_048 * mebibyte

/** Leases use the database's clock, dates use the machine's: a difference below this is harmless. */
const goodClockMs = 2_000
const badClockMs = minuteMs

export async function checkStorage(config: Config): Promise<Finding[]> {
  const directory = resolve(config.DATA_DIR)
  return [
    ...checkFolder(directory),
    ...checkFiles(directory),
    ...checkSecret(config, directory),
    ...(await checkDatabase(config, directory)),
  ]
}

function checkFolder(directory: string): Finding[] {
  let existing = directory
  while (!existsSync(existing)) existing = dirname(existing)
  try {
    accessSync(existing, constants.W_OK)
  } catch {
    return [
      reportProblem(
        'folder',
        'fail',
        [`数据目录 ${directory} 不可写`, 'DATA_DIR is not writable'],
        [
          '把目录交给运行服务的用户（chown），或改 DATA_DIR',
          'make the user of the service the owner of the folder, or change DATA_DIR',
        ],
      ),
    ]
  }
  const { bavail, bsize } = statfsSync(existing)
  const free = Number(bavail) * Number(bsize)
  const size = `${(free / mebibyte / 1024).toFixed(1)} GiB`
  const folder = ok('folder', `数据目录可写：${directory}`, 'DATA_DIR is writable')
  if (free >= goodFreeBytes) return [folder, ok('disk', `剩余空间 ${size}`, `${size} free`)]
  return [
    folder,
    reportProblem(
      'disk',
      free < minFreeBytes ? 'fail' : 'warn',
      [`剩余空间只有 ${size}`, `only ${size} free`],
      ['清理磁盘或扩容：写满后所有付费调用都会失败', 'free disk space: on a full disk every paid call fails'],
    ),
  ]
}

function checkSecret(config: Config, directory: string): Finding[] {
  if (config.SECRET_KEY)
    return [ok('secret', '使用设置中的 SECRET_KEY', 'SECRET_KEY comes from the settings')]
  const file = join(directory, secretName)
  if (config.DATABASE_URL) {
    return [
      reportProblem(
        'secret',
        'warn',
        [
          '未设置 SECRET_KEY，密钥只在本机的 DATA_DIR 中',
          'SECRET_KEY is not set: the secret is in this DATA_DIR only',
        ],
        [
          '多台机器共用一个数据库时，把 secret.key 的内容设为每台的 SECRET_KEY',
          'with several machines on one database, set the content of secret.key as SECRET_KEY on each',
        ],
      ),
    ]
  }
  if (!existsSync(file)) return [ok('secret', '首次启动时生成密钥', 'the first start makes the secret')]
  if (isOpenToOthers(statSync(file))) {
    return [
      reportProblem(
        'secret',
        'fail',
        ['其他用户可以读取 secret.key', 'other users can read secret.key'],
        [`chmod 600 ${file}`, 'chmod 600 it'],
      ),
    ]
  }
  return [
    ok(
      'secret',
      'secret.key 只有本用户可读，请与备份分开保存',
      'secret.key is private; keep a copy apart from the backups',
    ),
  ]
}

async function checkDatabase(config: Config, directory: string): Promise<Finding[]> {
  const file = join(directory, databaseName)
  if (!config.DATABASE_URL && !existsSync(file)) {
    return [ok('database', '尚无数据库，首次启动时创建', 'no database yet: the first start makes it')]
  }
  let db: Database | undefined
  try {
    const pooling = config.DATABASE_URL ? await findPooling(config.DATABASE_URL) : undefined
    const problem = pooling && findPoolingProblem(pooling)
    if (problem) return [reportProblem('pooler', 'fail', [problem.zh, problem.en], poolerAdvice)]
    db = config.DATABASE_URL ? openPostgres(config.DATABASE_URL) : openSqlite(file)
    const applied = await findAppliedMigrations(db)
    return [
      await checkWritable(db, applied !== undefined),
      await checkSchema(db, applied),
      ...(pooling ? await checkConnections(db, config, pooling) : []),
      await checkClock(db),
    ]
  } catch (error) {
    return [
      reportProblem(
        'database',
        'fail',
        [`数据库不可用：${describeReason(error)}`, 'the database cannot be used'],
        [
          config.DATABASE_URL
            ? '检查 DATABASE_URL 的主机、端口、用户、密码与库名，以及 PostgreSQL 是否在运行'
            : '检查 DATA_DIR 中 tollgate.db 的权限与磁盘',
          config.DATABASE_URL
            ? 'look at host, port, user, password and name in DATABASE_URL, and whether PostgreSQL runs'
            : 'look at the permissions of tollgate.db in DATA_DIR, and at the disk',
        ],
      ),
    ]
  } finally {
    await db?.close()
  }
}

async function checkWritable(db: Database, hasSchema: boolean): Promise<Finding> {
  await db.probe(hasSchema ? writeHeartbeat : async () => undefined)
  return ok('database', `${engineName(db)} 可读写`, `${engineName(db)} can be read and written`)
}

function engineName(db: Database): string {
  return byEngine(db, { sqlite: 'SQLite', postgres: 'PostgreSQL' })
}

async function checkSchema(db: Database, applied: readonly string[] | undefined): Promise<Finding> {
  const problem = await findSchemaProblem(db, applied ?? [])
  if (problem) {
    return reportProblem(
      'schema',
      'fail',
      [problem.zh, problem.en],
      ['请使用能读取它的版本', 'use the version that can read it'],
    )
  }
  const missing = migrations.filter(({ name }) => !applied?.includes(name))
  if (missing.length > 0 && !(await mayCreateTables(db))) {
    return reportProblem(
      'schema',
      'fail',
      ['该用户无权建表，无法执行迁移', 'the role may not create tables, and there are migrations to run'],
      [
        '用数据库的所有者运行 npm run admin -- migrate',
        'run npm run admin -- migrate as the owner of the database',
      ],
    )
  }
  if (!applied) {
    return ok(
      'schema',
      '数据库中尚无表，首次启动或 admin migrate 时创建',
      'the database has no schema yet: the first start or admin migrate creates it',
    )
  }
  if (missing.length > 0) {
    return reportProblem(
      'schema',
      'warn',
      [
        `待执行的迁移 ${missing.length} 个：${missing.map(({ name }) => name).join(', ')}`,
        `${missing.length} pending migrations`,
      ],
      [
        '先备份，然后启动服务或运行 npm run admin -- migrate',
        'make a backup, then start the service or run npm run admin -- migrate',
      ],
    )
  }
  return ok('schema', `结构已是最新（${applied.length} 个迁移）`, 'the schema is up to date')
}

async function mayCreateTables(db: Database): Promise<boolean> {
  const query = byEngine(db, {
    sqlite: 'SELECT 1 AS allowed',
    postgres: `SELECT CAST(has_schema_privilege(current_schema(), 'CREATE') AS integer) AS allowed`,
  })
  return (await db.one<{ allowed: number }>(query))?.allowed === 1
}

async function checkClock(db: Database): Promise<Finding> {
  const before = Date.now()
  const row = await db.one<{ now: number }>(`SELECT ${db.now} AS now`)
  const offBy = Math.round(Number(row?.now) - (before + Date.now()) / 2)
  if (Math.abs(offBy) <= goodClockMs)
    return ok('clock', `与数据库相差 ${offBy} 毫秒`, `${offBy} ms difference to the database`)
  return reportProblem(
    'clock',
    Math.abs(offBy) >= badClockMs ? 'fail' : 'warn',
    [
      `本机与数据库的时钟相差 ${(offBy / 1000).toFixed(1)} 秒`,
      'the clocks of this machine and the database differ',
    ],
    [
      '在两台机器上启用时间同步（chrony 或 systemd-timesyncd）；上游签名也要求时间准确',
      'enable time synchronization on both; gateway signatures need the correct time too',
    ],
  )
}
