// The SMS gateways: how each is created from the settings, and whose receipts are accepted.
import type { Config } from '../config.ts'
import { createGateways, type GatewayFactories, type GuardedGateway } from '../upstream/gateways.ts'
import { aliyunReceipts, createAliyunGateway } from './gateways/aliyun.ts'
import { createHttpGateway, createHttpReceipts } from './gateways/http.ts'
import { createSandboxGateway } from './gateways/sandbox.ts'
import { createTencentGateway, tencentReceipts } from './gateways/tencent.ts'
import type { ReceiptFormat, SmsGateway } from './port.ts'

/** The settings check at start that the required credentials are present. */
export const smsGateways: GatewayFactories<Config['SMS_GATEWAYS'][number], Config, SmsGateway> = {
  sandbox: createSandboxGateway,
  aliyun: (config) =>
    createAliyunGateway({
      key: { id: config.ALIYUN_ACCESS_KEY_ID ?? '', secret: config.ALIYUN_ACCESS_KEY_SECRET ?? '' },
      endpoint: config.ALIYUN_SMS_ENDPOINT ?? '',
      timeoutMs: config.GATEWAY_TIMEOUT_MS,
    }),
  tencent: (config) =>
    createTencentGateway({
      key: { id: config.TENCENT_SECRET_ID ?? '', secret: config.TENCENT_SECRET_KEY ?? '' },
      endpoint: config.TENCENT_SMS_ENDPOINT ?? '',
      region: config.TENCENT_REGION,
      appId: config.TENCENT_SMS_APP_ID ?? '',
      timeoutMs: config.GATEWAY_TIMEOUT_MS,
    }),
  http: (config) =>
    createHttpGateway({
      url: config.SMS_HTTP_URL ?? '',
      secret: config.SMS_HTTP_SECRET ?? '',
      timeoutMs: config.GATEWAY_TIMEOUT_MS,
    }),
}

export const smsGatewayNames = Object.keys(smsGateways)

export type GuardedSmsGateway = GuardedGateway<SmsGateway>

export function createSmsGateways(config: Config): readonly GuardedSmsGateway[] {
  const limits = { timeoutMs: config.GATEWAY_TIMEOUT_MS, maxConcurrent: 100, maxQueued: 1_000 }
  return createGateways(config.SMS_GATEWAYS, smsGateways, config, limits)
}

/** Includes vendors that are no longer configured: their receipts concern earlier messages. */
export function createReceiptFormats(config: Config): ReadonlyMap<string, ReceiptFormat> {
  const formats = new Map([
    ['aliyun', aliyunReceipts],
    ['tencent', tencentReceipts],
  ])
  if (config.SMS_HTTP_SECRET) formats.set('http', createHttpReceipts(config.SMS_HTTP_SECRET))
  return formats
}
