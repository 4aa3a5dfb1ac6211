// The domain check gateways: how each is created from the settings.
import type { Config } from '../config.ts'
import { createGateways, type GatewayFactories } from '../upstream/gateways.ts'
import { readAddress } from './address.ts'
import { type CanaryPair, type MonitoredGateway, monitorGateway } from './canary.ts'
import { createHttpGateway } from './gateways/http.ts'
import { customPreset, httpPresets } from './gateways/http-presets.ts'
import { createJumpGateway } from './gateways/jump.ts'
import { createSandboxGateway } from './gateways/sandbox.ts'
import type { DomainGateway } from './port.ts'

/** The settings check at start that the required values are present. */
export const domainGateways: GatewayFactories<Config['DOMAIN_GATEWAYS'][number], Config, DomainGateway> = {
  sandbox: createSandboxGateway,
  jump: (config) =>
    createJumpGateway({
      urlTemplate: config.DOMAIN_JUMP_URL,
      userAgent: config.DOMAIN_JUMP_USER_AGENT,
      blockedMarkers: config.DOMAIN_JUMP_BLOCKED,
      warningMarkers: config.DOMAIN_JUMP_WARNING_MARKERS,
      warningMeans: config.DOMAIN_JUMP_WARNING,
      timeoutMs: config.GATEWAY_TIMEOUT_MS,
    }),
  http: (config) =>
    createHttpGateway({
      url: config.DOMAIN_HTTP_URL ?? '',
      token: config.DOMAIN_HTTP_TOKEN,
      preset: findPreset(config),
      timeoutMs: config.GATEWAY_TIMEOUT_MS,
    }),
}

export const domainGatewayNames = Object.keys(domainGateways)

/**
 * The scheduler limits concurrency, so the guard has no queue and two extra slots for the canary. A short network failure
 * fails many concurrent calls, so the breaker opens only after 20 failures in a row.
 */
export function createDomainGateways(config: Config, maxConcurrent: number): readonly MonitoredGateway[] {
  return createGateways(config.DOMAIN_GATEWAYS, domainGateways, config, {
    timeoutMs: config.GATEWAY_TIMEOUT_MS,
    maxConcurrent: maxConcurrent + 2,
    maxQueued: 0,
    breakAfterConsecutiveFailures: 20,
    halfOpenAfterMs: 5_000,
  }).map(monitorGateway)
}

function findPreset(config: Config) {
  const name = config.DOMAIN_HTTP_PRESET
  if (name !== '' && name !== 'custom') return httpPresets[name]
  return customPreset({
    addressParameter: config.DOMAIN_HTTP_ADDRESS,
    tokenParameter: config.DOMAIN_HTTP_TOKEN_NAME,
    verdictPath: config.DOMAIN_HTTP_VERDICT ?? '',
    passes: config.DOMAIN_HTTP_OK,
    blocked: config.DOMAIN_HTTP_BLOCKED,
  })
}

/** Undefined when the pair is not configured; then no canary runs. */
export function readCanaryPair(config: Config): CanaryPair | undefined {
  const good = readAddress(config.DOMAIN_CANARY_GOOD ?? '')
  const bad = readAddress(config.DOMAIN_CANARY_BAD ?? '')
  return good && bad && { good, bad }
}
