// Settings of the audit log.
import { daysOrForever, setting } from '../setting-parsers.ts'

export const auditSettings = {
  AUDIT_KEEP_DAYS: setting(daysOrForever(180), 0, {
    zh: '操作日志保留的天数；至少 180，0 为永久',
    en: 'Days that the audit log is kept; 180 or more, 0: for ever',
  }),
} as const
