// Settings of short links.
import { resolve } from 'node:path'
import { integer, type Parsed, serverList, setting } from '../setting-parsers.ts'
import { placeFileProblem } from '../places/places.ts'

export const shortlinkSettings = {
  GEO_FILE: setting(placeFile(4), undefined, {
    zh: 'IPv4 位置数据（ip2region 的 xdb 文件），默认使用自带数据',
    en: 'Location data of IPv4 addresses (an xdb file of ip2region); default: the bundled data',
  }),
  GEO_FILE_V6: setting(placeFile(6), undefined, {
    zh: 'IPv6 位置数据（ip2region 的 xdb 文件），默认使用自带数据',
    en: 'Location data of IPv6 addresses (an xdb file of ip2region); default: the bundled data',
  }),
  LINK_REFRESH_GRACE_HOURS: setting(integer(0, 8_760), 0, {
    zh: '刷新后旧地址继续可用的小时数',
    en: 'Hours that the previous addresses keep working after a refresh',
  }),
  DNS_SERVERS: setting(serverList, [], {
    zh: '验证自有域名时查询的 DNS 服务器，逗号分隔的 IP 或 IP:端口；不设置则使用系统的 DNS 服务器',
    en: 'DNS servers for the proof of own domains: addresses with or without a port, separated by commas; unset: those of the system',
  }),
} as const

/** The path of a readable file, so that a wrong one is found at the start. */
function placeFile(version: 4 | 6): (given: string) => Parsed<string | undefined> {
  return (given) => {
    const path = resolve(given)
    const problem = placeFileProblem(path, version)
    return problem === undefined ? { value: path } : { problem }
  }
}
