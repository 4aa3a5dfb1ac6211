// Settings of logs and metrics.
import { choice, integer, setting } from '../setting-parsers.ts'

export const operationSettings = {
  LOG_LEVEL: setting(choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info', {
    zh: '日志级别',
    en: 'Log level',
  }),
  METRICS_PORT: setting(integer(0, 65_535), 0, {
    zh: '指标单独监听的端口；0 表示随主端口，仅本机可读',
    en: 'Separate port for /metrics; 0 serves it on the main port, loopback only',
  }),
} as const
