// The gateways of a product: created from its settings in order of preference, each behind its own guard.
import { createCountingGuard, createGuard, type Guard } from './guard.ts'
import { guardSlackMs } from './settings.ts'
import type { Outcome } from './outcome.ts'

/** How to create each gateway of a product from the settings. */
export type GatewayFactories<Name extends string, Config, Gateway> = Readonly<
  Record<Name, (config: Config) => Gateway>
>

export interface GatewayLimits {
  /** Timeout of the gateway's HTTP call. The guard waits a little longer. */
  readonly timeoutMs: number
  readonly maxConcurrent: number
  readonly maxQueued: number
  readonly breakAfterConsecutiveFailures?: number
  readonly halfOpenAfterMs?: number
}

export interface GuardedGateway<Gateway> {
  readonly name: string
  /** The gateway without its guard. */
  readonly gateway: Gateway
  readonly guard: Guard
  /** Calls the gateway through its guard. Never rejects. */
  call<T>(request: (gateway: Gateway, signal: AbortSignal) => Promise<Outcome<T>>): Promise<Outcome<T>>
}

export function createGateways<Name extends string, Config, Gateway extends { readonly name: string }>(
  names: readonly Name[],
  factories: GatewayFactories<Name, Config, Gateway>,
  config: Config,
  limits: GatewayLimits,
): readonly GuardedGateway<Gateway>[] {
  return names.map((name) => guardGateway(factories[name](config), limits))
}

/** Callers of a sandbox choose its failures, so they must not open a breaker. */
export function guardGateway<Gateway extends { readonly name: string }>(
  gateway: Gateway,
  limits: GatewayLimits,
): GuardedGateway<Gateway> {
  const guard =
    gateway.name === 'sandbox'
      ? createCountingGuard()
      : createGuard({ ...limits, timeoutMs: limits.timeoutMs + guardSlackMs })
  return {
    name: gateway.name,
    gateway,
    guard,
    call: (request) => guard.run((signal) => request(gateway, signal)),
  }
}

const outcomeKinds = ['accepted', 'refused', 'throttled', 'not_sent', 'ambiguous'] as const

/** The calls of each gateway by outcome, for metrics. */
export function countOutcomes(gateways: readonly { readonly name: string; readonly guard: Guard }[]) {
  return gateways.flatMap(({ name, guard }) =>
    outcomeKinds.map((outcome) => ({ gateway: name, outcome, count: guard.counters[outcome] })),
  )
}
