// Settings of the audit log.
import { daysOrForever, setting } from '../setting-parsers.ts'

export const auditSettings = {
  AUDIT_KEEP_DAYS: setting(daysOrForever(180), 0, {
    zh: '审计日志保留的天数；至少 180，0 表示永久保留',
    en: 'Retention of the audit log in days, at least 180; 0 keeps it indefinitely',
  }),
} as const
