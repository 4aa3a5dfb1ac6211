// The identity gateways: how each is created from the settings.
import type { Config } from '../config.ts'
import { createGateways, type GatewayFactories, type GuardedGateway } from '../upstream/gateways.ts'
import { createAliyunGateway } from './gateways/aliyun.ts'
import { createMarketGateway } from './gateways/market.ts'
import { marketPresets } from './gateways/market-shape.ts'
import { createSandboxGateway } from './gateways/sandbox.ts'
import { createTencentGateway } from './gateways/tencent.ts'
import type { IdentityGateway, Person } from './port.ts'

/** The settings check at start that the required credentials are present. */
const factories: GatewayFactories<Config['IDENTITY_GATEWAYS'][number], Config, IdentityGateway> = {
  sandbox: createSandboxGateway,
  aliyun: (config) =>
    createAliyunGateway({
      endpoint: config.ALIYUN_IDENTITY_ENDPOINT ?? '',
      key: { id: config.ALIYUN_ACCESS_KEY_ID ?? '', secret: config.ALIYUN_ACCESS_KEY_SECRET ?? '' },
      timeoutMs: config.GATEWAY_TIMEOUT_MS,
    }),
  tencent: (config) =>
    createTencentGateway({
      endpoint: config.TENCENT_IDENTITY_ENDPOINT ?? '',
      key: { id: config.TENCENT_SECRET_ID ?? '', secret: config.TENCENT_SECRET_KEY ?? '' },
      timeoutMs: config.GATEWAY_TIMEOUT_MS,
    }),
  market: (config) =>
    createMarketGateway({
      url: config.IDENTITY_MARKET_URL ?? '',
      appCode: config.IDENTITY_MARKET_APPCODE ?? '',
      shape: requireMarketShape(config),
      timeoutMs: config.GATEWAY_TIMEOUT_MS,
    }),
}

export const identityGatewayNames = Object.keys(factories)

/** For tests of a gateway: the example number of the standard with a placeholder name, no real person. */
export const samplePerson: Person = { name: '张三', number: '11010519491231002X' }

export type GuardedIdentityGateway = GuardedGateway<IdentityGateway>

export function createIdentityGateways(config: Config): readonly GuardedIdentityGateway[] {
  const limits = { timeoutMs: config.GATEWAY_TIMEOUT_MS, maxConcurrent: 64, maxQueued: 512 }
  return createGateways(config.IDENTITY_GATEWAYS, factories, config, limits)
}

function requireMarketShape(config: Config) {
  const preset = config.IDENTITY_MARKET_PRESET
  const shape = preset === '' || preset === 'custom' ? config.IDENTITY_MARKET_SHAPE : marketPresets[preset]
  if (!shape) throw new Error('IDENTITY_MARKET_SHAPE is missing')
  return shape
}
