// Settings of logs and metrics.
import { choice, integer, pathSecret, setting } from '../setting-parsers.ts'

export const operationSettings = {
  LOG_LEVEL: setting(choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info', {
    zh: '日志级别',
    en: 'Log level',
  }),
  METRICS_PORT: setting(integer(0, 65_535), 0, {
    zh: '指标单独监听的端口；0 表示随主端口，仅本机可读',
    en: 'Separate port for /metrics; 0 serves it on the main port, loopback only',
  }),
  METRICS_TOKEN: setting(
    pathSecret,
    undefined,
    {
      zh: '读取 /metrics 必须携带的令牌（Authorization: Bearer），至少 16 个字符；不设置则不需要',
      en: 'Token that /metrics requires (Authorization: Bearer), at least 16 characters; none by default',
    },
    'secret',
  ),
} as const
