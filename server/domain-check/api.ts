// The domain check endpoint. One request reads top to bottom.
import { checkResults, domainCheck } from '../../contract/domain-check.ts'
import { requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import { type Call, markStep, readCallParameters } from '../http/call.ts'
import { parameterError } from '../http/parameters.ts'
import { type ApiResponse, envelope, errorResponse } from '../http/responses.ts'
import type { Product, Services } from '../services.ts'
import type { MonitoredGateway } from './canary.ts'
import { makeItems } from './items.ts'
import { readAddress } from './address.ts'
import { openRuns, type Runs } from './runs.ts'
import { openCheckService } from './service.ts'
import { openWatch, type Watch } from './watch.ts'
import { checkFailed, tooManyUrls } from './words.ts'

export interface DomainCheck extends Product {
  readonly gateways: readonly MonitoredGateway[]
  /** Checks by hand. */
  readonly runs: Runs
  /** One free question about one of the operator's own domains. */
  readonly probe: (domain: string) => Promise<'passes' | 'blocked' | 'failed'>
  readonly watch: Watch
}

const apiType = 'domain_check'
const action = 'domain.check'

export function openDomainCheck(services: Services): DomainCheck {
  const { config, paidCalls } = services
  const service = openCheckService(services)
  const watch = openWatch(services, service)
  const runs = openRuns(services, service)

  async function check(call: Call): Promise<ApiResponse> {
    const { caller } = await services.authenticate(call, domainCheck.common)
    call.trace.action = 'check'
    const { urls, checkRandom } = readCheck(call, config.DOMAIN_MAX_URLS)

    const failed = errorResponse(domainCheck.shape, checkFailed(), call.language, services.http)
    const purchase = { apiType, action, values: { urls, checkRandom }, answerIfInterrupted: failed } as const
    const replay = await paidCalls.findReplay(call, caller, purchase)
    if (replay) return replay

    requireNotSuspended(caller.account)
    requireNotExpired(caller.account, 403)

    const { items, addresses } = makeItems(urls, checkRandom)
    const price = config.PRICES.domain
    const paid = await paidCalls.charge(call, caller, {
      ...purchase,
      cost: items.length * price,
      leaseMs: service.leaseMs,
    })
    if (paid.replay) return paid.replay
    const { operationId } = paid

    // Without any gateway there is no check; a gateway that is down only fails its items.
    if (service.gateways.length === 0 && addresses.some((address) => address !== undefined)) {
      await paidCalls.end(call, { operationId, end: { state: 'refunded' }, response: failed })
      return failed
    }
    const checked = await service.checker.check(addresses).catch(async (error: unknown) => {
      await paidCalls.end(call, { operationId, end: { state: 'refunded' } })
      throw error
    })
    markStep(call, 'gateway')
    call.trace.gateway = checked.gateways.join(',') || undefined

    const answer = (remaining: number | undefined) =>
      envelope({
        all_urls: items,
        results: checked.results,
        remaining_credits: remaining ?? paid.remaining,
      })
    const { ended, remaining } = await paidCalls.end(call, {
      operationId,
      end: { state: 'settled', refund: checked.failed * price },
      response: answer,
      sends: checked.asked,
    })
    // The sweeper came first and gave everything back: what was found out meanwhile is not sold.
    return ended ? answer(remaining) : failed
  }

  async function probe(domain: string): Promise<'passes' | 'blocked' | 'failed'> {
    const { results } = await service.checker.check([readAddress(domain)])
    const [result] = results
    return result === checkResults.passes ? 'passes' : result === checkResults.blocked ? 'blocked' : 'failed'
  }

  return {
    gateways: service.gateways,
    runs,
    probe,
    watch,
    served: { endpoint: domainCheck, handle: check },
    start() {
      service.start()
      watch.start()
      runs.startJobs()
    },
    async stop() {
      await Promise.all([service.stop(), watch.stop(), runs.stop()])
    },
  }
}

function readCheck(call: Call, mostUrls: number): { urls: readonly string[]; checkRandom: boolean } {
  const read = readCallParameters(call, domainCheck.operations.check.parameters)
  const missing = [...read.missing]
  const invalid = [...read.invalid]
  // Absent when it is missing or no list: then it is named already.
  const urls: readonly string[] | undefined = read.values.urls
  if (urls?.every((url) => url.trim() === '')) missing.push('urls')
  else if (urls && urls.length > mostUrls) invalid.push({ name: 'urls', text: tooManyUrls(mostUrls) })
  if (missing.length > 0 || invalid.length > 0) throw parameterError(missing, invalid)
  return { urls: read.values.urls, checkRandom: read.values.check_random ?? false }
}
