// The domain check endpoint, from the parameters to the response.
import { checkResults, domainCheck } from '../../contract/domain-check.ts'
import { requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import { pricesOf } from '../accounts/prices.ts'
import { type Call, readCallParameters } from '../http/call.ts'
import { parameterError } from '../http/parameters.ts'
import { type ApiResponse, errorResponse } from '../http/responses.ts'
import type { Product, Services } from '../services.ts'
import { createItems, readAddress } from './address.ts'
import type { MonitoredGateway } from './canary.ts'
import { apiType, checkAction, completeCheck } from './paid-check.ts'
import { createRuns, type Runs } from './runs.ts'
import { createCheckService } from './service.ts'
import { checkFailed, tooManyUrls } from './texts.ts'
import { createWatcher, type Watcher } from './watch.ts'

export interface DomainCheck extends Product {
  readonly gateways: readonly MonitoredGateway[]
  /** Checks from the console. */
  readonly runs: Runs
  /** One free check of one of the operator's own domains. */
  readonly probe: (domain: string) => Promise<'passes' | 'blocked' | 'failed'>
  readonly watch: Watcher
}

const chargedOnce = [domainCheck.operations.check]

export function createDomainCheck(services: Services): DomainCheck {
  const { config, paidCalls } = services
  const service = createCheckService(services)
  const watch = createWatcher(services, service)
  const runs = createRuns(services, service)

  async function check(call: Call): Promise<ApiResponse> {
    const { caller } = await services.authenticate(call, domainCheck.common, chargedOnce)
    call.trace.action = 'check'
    const { urls, checkRandom } = readCheck(call, config.DOMAIN_MAX_URLS)

    const failed = errorResponse(domainCheck.shape, checkFailed, call.language, services.http)
    const purchase = {
      apiType,
      action: checkAction,
      values: { urls, checkRandom },
      answerIfInterrupted: failed,
    } as const
    return paidCalls.once(call, caller, purchase, async () => {
      requireNotSuspended(caller.account)
      requireNotExpired(caller.account, 403)

      const { items, addresses } = createItems(urls, checkRandom)
      const price = pricesOf(caller.account, config.PRICES).domain
      const paid = await paidCalls.charge(call, caller, {
        ...purchase,
        cost: items.length * price,
        leaseMs: service.leaseMs,
      })
      if (paid.replay) return paid.replay
      return completeCheck(services, service, call, {
        accountId: caller.account.id,
        operationId: paid.operationId,
        items,
        addresses,
        price,
        remaining: paid.remaining,
        failed,
        check: () => service.checker.check(addresses),
      })
    })
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
      runs.startPruning()
    },
    stop: runs.stop,
  }
}

function readCheck(call: Call, maxUrls: number): { urls: readonly string[]; checkRandom: boolean } {
  const read = readCallParameters(call, domainCheck.operations.check.parameters)
  const missing = [...read.missing]
  const invalid = [...read.invalid]
  // Absent when missing or not a list, which is reported already.
  const urls: readonly string[] | undefined = read.values.urls
  if (urls?.every((url) => url.trim() === '')) missing.push('urls')
  else if (urls && urls.length > maxUrls) invalid.push({ name: 'urls', text: tooManyUrls(maxUrls) })
  if (missing.length > 0 || invalid.length > 0) throw parameterError(missing, invalid)
  return { urls: read.values.urls, checkRandom: read.values.check_random ?? false }
}
