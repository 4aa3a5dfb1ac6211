// Settings of short links.
import { integer, setting } from '../setting-parsers.ts'

export const shortlinkSettings = {
  LINK_REFRESH_GRACE_HOURS: setting(integer(0, 8_760), 0, {
    zh: '刷新后旧地址继续可用的小时数',
    en: 'Hours that refreshed addresses live on',
  }),
} as const
