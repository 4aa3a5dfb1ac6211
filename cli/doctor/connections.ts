// Checks that PostgreSQL has enough connections, and what a connection pooler in between can do.
import type { Config } from '../../server/config.ts'
import type { Database } from '../../server/db/database.ts'
import { findAppliedMigrations } from '../../server/db/migrate.ts'
import type { Pooling } from '../../server/db/postgres-pooler.ts'
import { maxConnections } from '../../server/runtime/installation.ts'
import { listProcesses } from '../../server/runtime/process-store.ts'
import { type Finding, ok, reportProblem } from './finding.ts'

export const poolerAdvice = [
  '见 docs/operations.md 的 PostgreSQL 一节',
  'see the section PostgreSQL of docs/operations.en.md',
] as const

export async function checkConnections(
  db: Database,
  config: Config,
  pooling: Pooling,
): Promise<readonly Finding[]> {
  // Behind a pooler its limits count, and the server does not know them.
  return pooling === 'direct' ? [await checkLimit(db, config)] : [checkPooler(config, pooling)]
}

function checkPooler(config: Config, pooling: Pooling): Finding {
  if (pooling === 'session' || config.DATABASE_DIRECT_URL) {
    return ok('pooler', `连接池（${pooling} 模式）可用`, `the connection pooler (${pooling} mode) works`)
  }
  return reportProblem(
    'pooler',
    'warn',
    [
      '连接池为事务模式，收不到变更通知，每次跳转都会查询数据库',
      'the connection pooler is in transaction mode: no notifications, every redirect queries the database',
    ],
    [
      '设置 DATABASE_DIRECT_URL 为直连 PostgreSQL 的地址',
      'set DATABASE_DIRECT_URL to the URL of PostgreSQL itself',
    ],
  )
}

interface ConnectionLimits {
  readonly server: number
  readonly role: number
  readonly database: number
}

/** Connections that superusers and maintenance keep free are not for us; -1 is no limit. */
const limitSql = `SELECT
    CAST(current_setting('max_connections') AS integer)
    - CAST(current_setting('superuser_reserved_connections') AS integer)
    - CAST(COALESCE(current_setting('reserved_connections', true), '0') AS integer) AS server,
    (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role,
    (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database`

async function checkLimit(db: Database, config: Config): Promise<Finding> {
  const limits = await db.one<ConnectionLimits>(limitSql)
  if (!limits) throw new Error('PostgreSQL does not show its limits')
  const limit = Math.min(...[limits.server, limits.role, limits.database].filter((one) => one >= 0))
  const hasProcesses = (await findAppliedMigrations(db))?.includes('0010-schema-compatibility') ?? false
  const running = hasProcesses ? await listProcesses(db) : []
  const own = config.WORKERS * maxConnections(config)
  const all = running.reduce((sum, { connections }) => sum + connections, 0)
  const needed = Math.max(own, all)
  const zh = `服务最多使用 ${needed} 个连接，PostgreSQL 允许 ${limit} 个（运行中的进程 ${running.length} 个）`
  const en = `the service uses up to ${needed} connections, PostgreSQL allows ${limit} (${running.length} processes are running)`
  if (needed <= limit) return ok('connections', zh, en)
  return reportProblem(
    'connections',
    'fail',
    [zh, en],
    [
      '减小 DATABASE_POOL 或进程数，或增大 max_connections：进程数 ×（DATABASE_POOL + 6）',
      'lower DATABASE_POOL or the number of processes, or raise max_connections: processes × (DATABASE_POOL + 6)',
    ],
  )
}
