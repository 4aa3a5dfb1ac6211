// The identity verification endpoint, from the parameters to the response.
import { identity } from '../../contract/identity.ts'
import { hourMs } from '../../contract/time.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import { pricesOf } from '../accounts/prices.ts'
import { registerWriter } from '../credits/batch-writer.ts'
import type { Purchase } from '../credits/charge/paid-call.ts'
import type { EndResult } from '../credits/operation.ts'
import { type Call, markStep } from '../http/call.ts'
import type { ApiResponse } from '../http/responses.ts'
import type { Product, Services } from '../services.ts'
import { createIdentityGateways, type GuardedIdentityGateway } from './gateways.ts'
import { requireApiKey, requirePerson } from './person.ts'
import type { Person } from './port.ts'
import { createIdentityRecords, type IdentityRecords, type RecordInput } from './records.ts'
import { failureResponse, insufficientCredits, interrupted, verdictResponse } from './responses.ts'
import { createVerification, identityAction } from './verification.ts'

export interface IdentityProduct extends Product {
  /** In order of preference. */
  readonly gateways: readonly GuardedIdentityGateway[]
  /** The masked records of an account, newest first. */
  readonly history: IdentityRecords['list']
  /** For the console: verifies for a signed-in account holder. */
  readonly verify: VerifyIdentity
}

export type VerifyIdentity = (call: Call, caller: Caller) => Promise<ApiResponse>

const chargedOnce = [identity.operations.verify]

export function createIdentity(services: Services): IdentityProduct {
  const { config, db, jobs, paidCalls } = services
  const gateways = createIdentityGateways(config)
  const verification = createVerification(services, gateways)
  const records = createIdentityRecords(db, services.secretKey)
  const insertRecord = registerWriter<RecordInput, EndResult, void>(
    (tx, items) =>
      records.insert(
        tx,
        items.map(({ item, result }) =>
          // The sweeper has already refunded the credit, so the verdict is not delivered.
          result.ended ? item : { ...item, verdict: 'failed', reason: 'late' },
        ),
      ),
    records.part,
  )

  async function handle(call: Call): Promise<ApiResponse> {
    call.trace.action = 'verify'
    requireApiKey(call)
    const { caller } = await services.authenticate(call, identity.common, chargedOnce)
    return verify(call, caller)
  }

  async function verify(call: Call, caller: Caller): Promise<ApiResponse> {
    const person = requirePerson(call)
    const purchase = {
      apiType: 'id_verification',
      action: identityAction,
      cost: pricesOf(caller.account, config.PRICES).identity,
      values: { name: person.name, idcard: person.number },
      insufficient: insufficientCredits,
      answerIfInterrupted: interrupted[call.language],
    } as const
    return paidCalls.once(call, caller, purchase, async () => {
      requireNotSuspended(caller.account)
      requireNotExpired(caller.account, 403)

      const reused = await reuseLastVerdict(call, caller, person, purchase)
      if (reused) return reused

      const paid = await paidCalls.charge(call, caller, { ...purchase, leaseMs: verification.leaseMs })
      if (paid.replay) return paid.replay
      const { operationId } = paid

      const verified = await verification.verify(person, call.requestId)
      const { gateway, verdict } = verified
      call.trace.gateway = gateway
      markStep(call, 'gateway')

      const response =
        verified.verdict === 'failed'
          ? failureResponse(verified.text, call.language)
          : verdictResponse(verified.verdict, verified.details, person.number, call.language)
      const isPaid = verdict === 'match' || verdict === 'mismatch'
      const { ended } = await paidCalls.end(call, {
        accountId: caller.account.id,
        operationId,
        end: { state: isPaid ? 'settled' : 'refunded' },
        response,
        sends: verified.attempts,
        inSameTransaction: insertRecord({
          accountId: caller.account.id,
          person,
          operationId,
          requestId: call.requestId,
          gateway,
          verdict,
          reason: verified.verdict === 'failed' ? verified.reason : undefined,
        }),
      })
      return ended ? response : purchase.answerIfInterrupted
    })
  }

  /** The same person within IDENTITY_REPEAT_S: returns the last verdict at the same price, without a gateway call. */
  async function reuseLastVerdict(
    call: Call,
    caller: Caller,
    person: Person,
    purchase: Purchase<undefined>,
  ): Promise<ApiResponse | undefined> {
    if (config.IDENTITY_REPEAT_S === 0) return undefined
    const accountId = caller.account.id
    const verdict = await records.findLastVerdict(accountId, person, config.IDENTITY_REPEAT_S * 1000)
    if (verdict !== 'match' && verdict !== 'mismatch') return undefined
    // The details from the gateway are not stored.
    const response = verdictResponse(verdict, {}, person.number, call.language)
    const paid = await paidCalls.charge(call, caller, {
      ...purchase,
      inSameTransaction: async (tx, { operationId }) => {
        const { requestId } = call
        await records.insert(tx, [{ accountId, person, verdict, gateway: 'repeat', operationId, requestId }])
        return { value: undefined, response }
      },
    })
    call.trace.gateway = 'repeat'
    return paid.replay ?? response
  }

  return {
    gateways,
    history: records.list,
    verify,
    served: { endpoint: identity, handle },
    start() {
      jobs.every(hourMs, 'prune_identity_records', (signal) =>
        records.deleteOld(config.IDENTITY_RECORD_DAYS, signal),
      )
    },
  }
}
