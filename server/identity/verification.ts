// Verifies a person through the gateways in order, with metrics and a log line for each failure.
import { Counter, Gauge } from 'prom-client'
import type { Text } from '../../contract/text.ts'
import type { Services } from '../services.ts'
import { tryInOrder } from '../upstream/failover.ts'
import type { Failure, Outcome } from '../upstream/outcome.ts'
import type { GuardedIdentityGateway } from './gateways.ts'
import {
  type Person,
  type PersonDetails,
  unreadableReasons,
  type Verdict,
  type VerificationResult,
} from './port.ts'

/** The action in the ledger. After a crash the sweeper refunds it; there is nothing to decide. */
export const identityAction = 'identity.verify'

export interface Verification {
  readonly leaseMs: number
  verify(person: Person, requestId: string): Promise<Verified>
}

/** The combined result of all gateways that were tried. */
export type Verified = {
  /** The gateway of the result; undefined without any gateway. */
  readonly gateway: string | undefined
  readonly attempts: number
} & (
  | { readonly verdict: Verdict; readonly details: PersonDetails }
  | { readonly verdict: 'failed'; readonly reason: string; readonly text: Text }
)

export function createVerification(
  { config, log, metrics }: Pick<Services, 'config' | 'log' | 'metrics'>,
  gateways: readonly GuardedIdentityGateway[],
): Verification {
  const outcomes = new Counter({
    name: 'tollgate_identity_outcomes_total',
    help: 'Outcomes of the identity gateways: match, mismatch, no_record, or failed',
    labelNames: ['gateway', 'outcome'],
    registers: [metrics],
  })
  for (const { name } of gateways) {
    for (const outcome of ['match', 'mismatch', 'no_record', 'failed'] satisfies (Verdict | 'failed')[])
      outcomes.inc({ gateway: name, outcome }, 0)
  }
  new Gauge({
    name: 'tollgate_identity_gateway_open',
    help: "1 while the gateway's circuit breaker is open",
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
    verify: (person, requestId) =>
      verifyInOrder(gateways, person, {
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

export interface VerifyOptions {
  /** After this time no further gateway is tried, because the sweeper may have refunded the operation. */
  readonly withinMs: number
  readonly onOutcome: (gateway: string, outcome: Outcome<VerificationResult>) => void
}

/** A second query is harmless, so the next gateway is tried after every failure that does not concern this person. */
export async function verifyInOrder(
  gateways: readonly GuardedIdentityGateway[],
  person: Person,
  options: VerifyOptions,
): Promise<Verified> {
  const startedAt = performance.now()
  const result = await tryInOrder<GuardedIdentityGateway, VerificationResult>(
    gateways,
    async (guarded) => {
      const outcome = await guarded.call((gateway, signal) => gateway.verify(person, signal))
      options.onOutcome(guarded.name, outcome)
      return outcome
    },
    (outcome) => !concernsPerson(outcome) && performance.now() - startedAt < options.withinMs,
  )
  const { gateway, outcome } = result
  const attempts = result.attempts.length
  if (outcome.kind === 'accepted') return { gateway, attempts, ...outcome.value }
  return { gateway, attempts, verdict: 'failed', reason: outcome.reason, text: failureText(outcome) }
}

function concernsPerson(outcome: Outcome<VerificationResult>): boolean {
  if (outcome.kind === 'refused') return outcome.code === 'person'
  return outcome.kind === 'throttled' && outcome.concerns === 'recipient'
}

const failureTexts = {
  none: { zh: '未配置核验网关', en: 'no gateway is configured' },
  person: {
    zh: '核验源不受理该姓名或身份证号',
    en: 'the source does not take this name or ID number',
  },
  tries: { zh: '该身份证号今日的核验次数已用完', en: 'this ID number was checked too often today' },
  unlisted: { zh: '核验源返回了无法识别的结果', en: 'the source gave an answer that is not known' },
  unreadable: { zh: '核验源的响应无法读取', en: "the source's answer cannot be read" },
  slow: { zh: '核验源响应超时', en: 'the source did not answer in time' },
  unavailable: { zh: '核验源暂时不可用', en: 'the source is not available at the moment' },
} as const satisfies Record<string, Text>

/** Never the provider's text, which may quote personal data. */
function failureText(outcome: Failure): Text {
  if (outcome.kind === 'refused') return failureTexts[outcome.code === 'person' ? 'person' : 'unlisted']
  if (outcome.kind === 'throttled' && outcome.concerns === 'recipient') return failureTexts.tries
  if (outcome.reason === 'no_gateway') return failureTexts.none
  if ((unreadableReasons as readonly string[]).includes(outcome.reason)) return failureTexts.unreadable
  return failureTexts[/timeout|aborted/i.test(outcome.reason) ? 'slow' : 'unavailable']
}
