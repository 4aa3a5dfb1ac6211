// Settings of the request log.
import { integer, setting } from '../setting-parsers.ts'

export const requestLogSettings = {
  REQUEST_LOG_DAYS: setting(integer(0, 3_650), 30, {
    zh: '请求记录保留的天数；0 表示不记录',
    en: 'Days that calls are kept for the inspector; 0: none are',
  }),
} as const
