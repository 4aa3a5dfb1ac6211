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

interface ReceiptOptions {
  /** Undefined while the gateway is not configured. */
  readonly format: (config: Config) => ReceiptFormat | undefined
  /** The secret part of its receipt URL, if it is set. */
  readonly secret: (config: Config) => string | undefined
}

/** The gateways that send receipts. */
const receiptGateways: Readonly<Record<string, ReceiptOptions>> = {
  aliyun: { format: () => aliyunReceipts, secret: (config) => config.SMS_RECEIPT_SECRET_ALIYUN },
  tencent: { format: () => tencentReceipts, secret: (config) => config.SMS_RECEIPT_SECRET_TENCENT },
  http: {
    format: ({ SMS_HTTP_SECRET: secret }) => (secret ? createHttpReceipts(secret) : undefined),
    secret: (config) => config.SMS_RECEIPT_SECRET_HTTP,
  },
}

/** A gateway that sends receipts, and the secret part of its receipt URL. */
export interface ReceiptSource {
  readonly format: ReceiptFormat
  readonly secret: string
}

/**
 * The configured gateways that send receipts. A secret of its own keeps the URL of a gateway that was removed from SMS_GATEWAYS
 * open for the receipts of earlier messages. Without a setting each gateway has another secret, so that one vendor cannot send
 * receipts in the name of another.
 */
export function createReceiptSources(
  config: Config,
  secretFor: (purpose: string) => string,
): ReadonlyMap<string, ReceiptSource> {
  const configured: readonly string[] = config.SMS_GATEWAYS
  const sources = new Map<string, ReceiptSource>()
  for (const [name, receipts] of Object.entries(receiptGateways)) {
    const format = receipts.format(config)
    const ownSecret = receipts.secret(config)
    if (!format || (ownSecret === undefined && !configured.includes(name))) continue
    const secret = ownSecret ?? config.SMS_RECEIPT_SECRET ?? secretFor(`sms receipts ${name}`)
    sources.set(name, { format, secret })
  }
  return sources
}

/** The configured gateways whose receipt URLs contain the same secret. */
export function findSharedReceiptSecrets(config: Config): readonly string[] {
  const sources = [...createReceiptSources(config, (purpose) => purpose)]
  return sources
    .filter(([name, own]) => sources.some(([other, { secret }]) => other !== name && secret === own.secret))
    .map(([name]) => name)
}

/** Starts with a slash: the public URL comes before it. */
export function receiptPath(gateway: string, secret: string): string {
  return `/receipts/sms/${gateway}/${encodeURIComponent(secret)}`
}
