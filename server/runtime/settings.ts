// Settings of the process: where it listens, and where its data is.
import { PostgresUrlProblem, readPostgresUrl } from '../db/postgres-url.ts'
import {
  choice,
  host,
  integer,
  optional,
  publicOrigin,
  type Setting,
  setting,
  text,
} from '../setting-parsers.ts'

const postgresUrl: Setting<string | undefined>['parse'] = (value) => {
  try {
    readPostgresUrl(value)
    return { value }
  } catch (error) {
    if (!(error instanceof PostgresUrlProblem)) throw error
    return { problem: `${error.text.zh} / ${error.text.en}` }
  }
}

export const runtimeSettings = {
  PORT: setting(integer(0, 65_535), 3000, { zh: '监听端口', en: 'Port to listen on' }),
  HOST: setting(host, '127.0.0.1', { zh: '监听地址', en: 'Address to listen on' }),
  PUBLIC_URL: setting(publicOrigin, undefined, {
    zh: '对外地址，不含路径，默认 http://HOST:PORT',
    en: 'Public base URL without a path; default http://HOST:PORT',
  }),
  WORKERS: setting(integer(1, 256), 1, {
    zh: '处理请求的进程数；同 npm start -- --workers N',
    en: 'Number of worker processes; same as npm start -- --workers N',
  }),
  DRAIN_S: setting(integer(0, 600), 0, {
    zh: '收到 SIGTERM 后继续处理请求的秒数，其间 /readyz 返回 503，供负载均衡摘除；一秒之后再次收到信号则不再等待',
    en: 'Seconds in which requests are still served after SIGTERM while /readyz returns 503, so that a load balancer removes the process; a further signal, more than one second after the first, ends the wait',
  }),
  DATA_DIR: setting(text, './data', {
    zh: 'SQLite 文件与首次启动生成的密钥所在目录',
    en: 'Folder of the SQLite file and of the secrets created at first start',
  }),
  DATABASE_URL: setting(
    postgresUrl,
    undefined,
    {
      zh: 'PostgreSQL 地址；不设置则使用内嵌 SQLite',
      en: 'PostgreSQL URL; without it the embedded SQLite is used',
    },
    'secret',
  ),
  DATABASE_DIRECT_URL: setting(
    postgresUrl,
    undefined,
    {
      zh: 'DATABASE_URL 经过事务模式的连接池（PgBouncer）时，直连同一数据库的地址，用于接收变更通知',
      en: 'URL of the same database without a pooler, to receive notifications when DATABASE_URL uses PgBouncer in transaction mode',
    },
    'secret',
  ),
  DATABASE_POOL: setting(integer(4, 500), 12, {
    zh: '每个进程用于调用的 PostgreSQL 连接数上限；另有最多 6 个用于控制台报表、通知、点击与健康检查',
    en: 'Maximum number of PostgreSQL connections per process for calls; up to 6 more are for reports of the console, notifications, clicks and health checks',
  }),
  SECRET_KEY: setting(
    optional(32),
    undefined,
    {
      zh: '个人数据哈希与会话的密钥，至少 32 个字符；多台机器必须相同',
      en: 'Key for hashes of personal data and for sessions, at least 32 characters; must be the same on every machine',
    },
    'secret',
  ),
  SAMPLE_ACCOUNT: setting(choice('on', 'off'), 'on', {
    zh: '首次启动是否创建示例账户',
    en: 'Create a sample account at first start',
  }),
} as const
