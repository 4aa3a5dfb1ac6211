// Settings of short links.
import { integer, serverList, setting } from '../setting-parsers.ts'

export const shortlinkSettings = {
  LINK_REFRESH_GRACE_HOURS: setting(integer(0, 8_760), 0, {
    zh: '刷新后旧地址继续可用的小时数',
    en: 'Hours that refreshed addresses live on',
  }),
  DNS_SERVERS: setting(serverList, [], {
    zh: '验证自有域名时查询的 DNS 服务器，逗号分隔的 IP 或 IP:端口；不设置则使用系统的',
    en: 'DNS servers for the proof of own domains: addresses with or without a port, separated by commas; unset: those of the system',
  }),
} as const
