// Settings of the request log.
import { integer, setting } from '../setting-parsers.ts'

export const requestLogSettings = {
  REQUEST_LOG_DAYS: setting(integer(0, 3_650), 30, {
    zh: '请求记录保留的天数；0 表示不记录',
    en: 'Retention of the request log in days; 0 disables it',
  }),
  REQUEST_LOG_FREE_MB: setting(integer(1, 1_000_000), 20, {
    zh: '每个账户每天失败与免费的调用最多写入请求记录的容量（MB）；超出后只计数',
    en: 'Megabytes that failed and free calls of one account may add to the request log per day; further ones are only counted',
  }),
} as const
