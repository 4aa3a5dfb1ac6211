// The gateways the settings name, in their order of preference.
import type { Config } from '../config.ts'
import { readAddress } from './address.ts'
import type { CanaryPair } from './canary.ts'
import { customPreset, httpPresets } from './gateways/http-presets.ts'
import { httpGateway } from './gateways/http.ts'
import { jumpGateway } from './gateways/jump.ts'
import { sandboxGateway } from './gateways/sandbox.ts'
import type { DomainGateway } from './port.ts'

export type GatewayName = Config['DOMAIN_GATEWAYS'][number]

export const gatewayNames = ['sandbox', 'jump', 'http'] as const

export function makeGateway(name: GatewayName, config: Config): DomainGateway {
  switch (name) {
    case 'sandbox':
      return sandboxGateway()
    case 'jump':
      return jumpGateway({
        urlTemplate: config.DOMAIN_JUMP_URL,
        userAgent: config.DOMAIN_JUMP_USER_AGENT,
        blockedMarkers: config.DOMAIN_JUMP_BLOCKED,
        warningMarkers: config.DOMAIN_JUMP_WARNING_MARKERS,
        warningMeans: config.DOMAIN_JUMP_WARNING,
        timeoutMs: config.GATEWAY_TIMEOUT_MS,
      })
    case 'http':
      return httpGateway({
        // Checked at start: this gateway is not configured without them.
        url: config.DOMAIN_HTTP_URL ?? '',
        token: config.DOMAIN_HTTP_TOKEN,
        preset: presetOf(config),
        timeoutMs: config.GATEWAY_TIMEOUT_MS,
      })
  }
}

function presetOf(config: Config) {
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

/** Undefined without the pair: then nobody watches the gateways. */
export function canaryPair(config: Config): CanaryPair | undefined {
  const good = readAddress(config.DOMAIN_CANARY_GOOD ?? '')
  const bad = readAddress(config.DOMAIN_CANARY_BAD ?? '')
  return good && bad && { good, bad }
}
