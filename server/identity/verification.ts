// Asking for a verdict, counted and logged: the part that a call of the API and one by hand share.
import { Counter, Gauge } from 'prom-client'
import type { Services } from '../services.ts'
import { type Asked, askInOrder, type GuardedGateway } from './gateways.ts'
import type { Person } from './port.ts'

/** What the ledger calls it. A crash in mid-call needs no decider: the sweeper's refund is right. */
export const identityAction = 'identity.verify'

export interface Verification {
  readonly leaseMs: number
  ask(person: Person, requestId: string): Promise<Asked>
}

export function openVerification(
  { config, log, metrics }: Pick<Services, 'config' | 'log' | 'metrics'>,
  gateways: readonly GuardedGateway[],
): Verification {
  const outcomes = new Counter({
    name: 'tollgate_identity_outcomes_total',
    help: 'Answers of the identity gateways: match, mismatch, no_record, or failed',
    labelNames: ['gateway', 'outcome'],
    registers: [metrics],
  })
  new Gauge({
    name: 'tollgate_identity_gateway_open',
    help: '1 while the breaker keeps calls away from the gateway',
    aggregator: 'max',
    labelNames: ['gateway'],
    registers: [metrics],
    collect() {
      for (const { name, guard } of gateways) this.set({ gateway: name }, guard.state === 'open' ? 1 : 0)
    },
  })
  const leaseMs = config.OPERATION_LEASE_S * 1000

  return {
    leaseMs,
    ask: (person, requestId) =>
      askInOrder(gateways, person, {
        withinMs: leaseMs,
        onOutcome(gateway, outcome) {
          const verdict = outcome.kind === 'accepted' ? outcome.value.verdict : 'failed'
          outcomes.inc({ gateway, outcome: verdict })
          if (outcome.kind === 'accepted') return
          log.warn(
            { requestId, gateway, outcome: outcome.kind, reason: outcome.reason },
            'identity gateway failed',
          )
        },
      }),
  }
}
