// Settings that the gateways of several products share.
import { headerText, integer, optionalHeaderText, setting } from '../setting-parsers.ts'

export const upstreamSettings = {
  GATEWAY_TIMEOUT_MS: setting(integer(100, 60_000), 5_000, {
    zh: '单次网关调用的超时（毫秒）',
    en: 'Timeout of one call to one gateway, in milliseconds',
  }),
  ALIYUN_ACCESS_KEY_ID: setting(optionalHeaderText, undefined, {
    zh: '阿里云 AccessKey ID',
    en: 'Aliyun AccessKey ID',
  }),
  ALIYUN_ACCESS_KEY_SECRET: setting(
    optionalHeaderText,
    undefined,
    {
      zh: '阿里云 AccessKey Secret',
      en: 'Aliyun AccessKey secret',
    },
    'secret',
  ),
  TENCENT_SECRET_ID: setting(optionalHeaderText, undefined, {
    zh: '腾讯云 SecretId',
    en: 'Tencent Cloud SecretId',
  }),
  TENCENT_SECRET_KEY: setting(
    optionalHeaderText,
    undefined,
    {
      zh: '腾讯云 SecretKey',
      en: 'Tencent Cloud SecretKey',
    },
    'secret',
  ),
  TENCENT_REGION: setting(headerText, 'ap-guangzhou', { zh: '腾讯云地域', en: 'Tencent Cloud region' }),
} as const

/** The guard's timeout is longer than that of the HTTP call, which knows whether the request was sent. */
export const guardSlackMs = 500

/** A call through the guard waits for a place, and then for the response. */
export function longestGatewayCallMs(timeoutMs: number): number {
  return 2 * (timeoutMs + guardSlackMs)
}
