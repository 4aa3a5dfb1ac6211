// Settings of the request log.
import { integer, setting } from '../setting-parsers.ts'

export const requestLogSettings = {
  REQUEST_LOG_DAYS: setting(integer(0, 3_650), 30, {
    zh: '请求记录保留的天数；0 表示不记录',
    en: 'Retention of the request log in days; 0 disables it',
  }),
} as const
