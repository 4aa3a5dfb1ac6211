// The part of a paid check after its charge: check, settle with a refund of the failed items, respond.
import type { CheckItem } from '../../contract/domain-check.ts'
import type { EndRequest } from '../credits/operation.ts'
import { type Call, markStep } from '../http/call.ts'
import { type ApiResponse, envelope } from '../http/responses.ts'
import type { Services } from '../services.ts'
import type { CheckOutcome } from './checker.ts'
import type { Address } from './port.ts'
import type { CheckService } from './service.ts'

export const apiType = 'domain_check'
export const checkAction = 'domain.check'

export interface PaidCheck {
  readonly accountId: number
  readonly operationId: number
  readonly items: readonly CheckItem[]
  readonly addresses: readonly (Address | undefined)[]
  /** What each item was charged. */
  readonly price: number
  readonly remaining: number
  /** The response when the check fails as a whole. */
  readonly failed: ApiResponse
  readonly check: () => Promise<CheckOutcome>
  /** What commits with the settlement. */
  readonly recordResults?: (outcome: CheckOutcome) => EndRequest['inSameTransaction']
}

export async function completeCheck(
  { paidCalls }: Services,
  service: CheckService,
  call: Call,
  paid: PaidCheck,
): Promise<ApiResponse> {
  const { accountId, operationId } = paid
  // Without a configured gateway the check fails as a whole; a gateway that is down only fails its items.
  if (service.gateways.length === 0 && paid.addresses.some((address) => address !== undefined)) {
    await paidCalls.end(call, { accountId, operationId, end: { state: 'refunded' }, response: paid.failed })
    return paid.failed
  }
  const outcome = await paid.check().catch(async (error: unknown) => {
    await paidCalls.end(call, { accountId, operationId, end: { state: 'refunded' } })
    throw error
  })
  markStep(call, 'gateway')
  call.trace.gateway = outcome.gateways.join(',') || undefined

  const response = (remaining: number | undefined) =>
    envelope({
      all_urls: paid.items,
      results: outcome.results,
      remaining_credits: remaining ?? paid.remaining,
    })
  const { ended, remaining } = await paidCalls.end(call, {
    accountId,
    operationId,
    end: { state: 'settled', refund: outcome.failed * paid.price },
    response: outcome.failed === 0 ? response(undefined) : response,
    sends: outcome.gatewayCalls,
    inSameTransaction: paid.recordResults?.(outcome),
  })
  // The sweeper has already refunded everything, so the results are not delivered.
  return ended ? response(remaining) : paid.failed
}
