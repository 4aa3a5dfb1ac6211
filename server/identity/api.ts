// The identity endpoint: one request reads from top to bottom here.
import { identity } from '../../contract/identity.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import type { Purchase } from '../credits/charge/paid-call.ts'
import { type Call, markStep } from '../http/call.ts'
import type { ApiResponse } from '../http/responses.ts'
import type { Product, Services } from '../services.ts'
import {
  answerOf,
  endOf,
  failureOutcome,
  insufficientCredits,
  interrupted,
  verdictOutcome,
} from './answers.ts'
import { type GuardedGateway, openGateways } from './gateways.ts'
import { requireKey, requirePerson } from './person.ts'
import type { Person } from './port.ts'
import { openRecords, type Records } from './records.ts'
import { identityAction, openVerification } from './verification.ts'

/** The product, and what the console shows and does of it. */
export interface Identity extends Product {
  /** In the configured order, with the state of each guard. */
  readonly gateways: readonly GuardedGateway[]
  /** Masked records of an account, the newest first. */
  readonly history: Records['history']
  /** The same verification for a caller who did not come with a key. */
  readonly verify: Verify
}

export type Verify = (call: Call, caller: Caller) => Promise<ApiResponse>

export function openIdentity(services: Services): Identity {
  const { config, paidCalls } = services
  const gateways = openGateways(config)
  const verification = openVerification(services, gateways)
  const records = openRecords({
    db: services.db,
    secretKey: services.secretKey,
    keepDays: config.IDENTITY_RECORD_DAYS,
    onError: (error) => services.log.error({ err: error }, 'old identity records were not deleted'),
  })

  async function handle(call: Call): Promise<ApiResponse> {
    call.trace.action = 'verify'
    requireKey(call)
    const { caller } = await services.authenticate(call, identity.common)
    return verify(call, caller)
  }

  async function verify(call: Call, caller: Caller): Promise<ApiResponse> {
    const person = requirePerson(call)
    const purchase = {
      apiType: 'id_verification',
      action: identityAction,
      cost: config.PRICES.identity,
      values: { name: person.name, idcard: person.number },
      insufficient: insufficientCredits(),
      lost: answerOf(failureOutcome(interrupted, call.language)),
    } as const
    const repeated = await paidCalls.repeat(call, caller, purchase)
    if (repeated) return repeated
    requireNotSuspended(caller.account)
    requireNotExpired(caller.account, 403)

    const known = await answerFromLastVerdict(call, caller, person, purchase)
    if (known) return known

    const paid = await paidCalls.charge(call, caller, { ...purchase, leaseMs: verification.leaseMs })
    if (paid.repeat) return paid.repeat
    const { operationId } = paid

    const asked = await verification.ask(person, call.requestId)
    call.trace.gateway = asked.gateway
    markStep(call, 'gateway')

    const answer = answerOf(
      asked.verdict === 'failed'
        ? failureOutcome(asked.text, call.language)
        : verdictOutcome(asked.verdict, asked.facts, person.number, call.language),
    )
    const { ended } = await paidCalls.end(
      call,
      { operationId, apiType: purchase.apiType },
      { end: endOf(asked.verdict), answer, sends: asked.asked },
      (tx, result) =>
        records.write(tx, {
          accountId: caller.account.id,
          person,
          operationId,
          requestId: call.requestId,
          gateway: asked.gateway,
          // Too late: the sweeper has given the credit back, so there is no verdict to be had for it.
          verdict: result.ended ? asked.verdict : 'failed',
          reason: result.ended ? (asked.verdict === 'failed' ? asked.reason : undefined) : 'late',
        }),
    )
    return ended ? answer : purchase.lost
  }

  /** The same pair again within the operator's time: the last verdict, at the same price, with nobody asked. */
  async function answerFromLastVerdict(
    call: Call,
    caller: Caller,
    person: Person,
    purchase: Purchase<undefined>,
  ): Promise<ApiResponse | undefined> {
    if (config.IDENTITY_REPEAT_S === 0) return undefined
    const accountId = caller.account.id
    const verdict = await records.lastVerdict(accountId, person, config.IDENTITY_REPEAT_S * 1000)
    if (verdict !== 'match' && verdict !== 'mismatch') return undefined
    // What else the upstream said then was not kept.
    const answer = answerOf(verdictOutcome(verdict, {}, person.number, call.language))
    const paid = await paidCalls.charge(call, caller, {
      ...purchase,
      alongside: async (tx, { operationId }) => {
        const { requestId } = call
        await records.write(tx, { accountId, person, verdict, gateway: 'repeat', operationId, requestId })
        return { value: undefined, answer }
      },
    })
    call.trace.gateway = 'repeat'
    return paid.repeat ?? answer
  }

  return {
    gateways,
    history: records.history,
    verify,
    served: { endpoint: identity, handle },
    start: records.start,
    stop: records.stop,
  }
}
