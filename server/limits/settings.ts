// Settings of the rate limits.
import { rateLimit, redisUrl, setting } from '../setting-parsers.ts'

export const limitSettings = {
  RATE_LIMIT: setting(
    rateLimit,
    { perSecond: 100, burst: 200 },
    {
      zh: '每个账户每秒的调用数与突发数；off 表示不限，控制台的请求频率也不再限制',
      en: 'Calls per second and burst per account; off disables the limit, and the rates of the console too',
    },
  ),
  REDIS_URL: setting(
    redisUrl,
    undefined,
    {
      zh: '多个进程共享频率限制计数所用的 Redis 或 Valkey；不设置则用 PostgreSQL，SQLite 的多个进程由主进程计数',
      en: 'Redis or Valkey for limits shared by several processes; default: PostgreSQL, or the primary process on SQLite',
    },
    'secret',
  ),
} as const
