// A check by hand, from the console: no API key, the same price, and progress while it runs.
import type { CheckItem, CheckResult } from '../../contract/domain-check.ts'
import { requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import type { Account } from '../accounts/store.ts'
import { insufficientCredits } from '../credits/paid-call.ts'
import { AppError } from '../http/errors.ts'
import type { Services } from '../services.ts'
import { endOperation } from './end.ts'
import { makeItems } from './items.ts'
import type { CheckService } from './service.ts'
import { tooManyUrls } from './words.ts'

export interface HandCheck {
  readonly account: Account
  readonly urls: readonly string[]
  readonly checkRandom: boolean
  readonly requestId: string
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

export interface HandChecked {
  readonly items: readonly CheckItem[]
  readonly results: readonly CheckResult[]
  readonly givenBack: number
  readonly remaining: number
}

export type CheckByHand = (wish: HandCheck) => Promise<HandChecked>

export function openCheckByHand(services: Services, service: CheckService): CheckByHand {
  const { config, credits } = services
  return async ({ account, urls: given, checkRandom, requestId, onProgress }) => {
    const urls = given.filter((url) => url.trim() !== '')
    if (urls.length === 0) throw new AppError(1001, { zh: '请填写网址', en: 'Give at least one address' })
    if (urls.length > config.DOMAIN_MAX_URLS) throw new AppError(1002, tooManyUrls(config.DOMAIN_MAX_URLS))
    requireNotSuspended(account)
    requireNotExpired(account, 403)

    const { items, addresses } = makeItems(urls, checkRandom)
    const price = config.PRICES.domain
    const charged = await credits.charge({
      accountId: account.id,
      apiType: 'domain_check',
      action: 'domain.check',
      cost: items.length * price,
      requestId,
      leaseMs: service.leaseMs,
    })
    if (charged.kind !== 'charged') throw insufficientCredits()

    const checked = await service.checker.check(addresses, { onProgress }).catch(async (error: unknown) => {
      await endOperation(services, charged.operationId, { state: 'refunded' })
      throw error
    })
    const { ended, givenBack, remaining } = await endOperation(
      services,
      charged.operationId,
      { state: 'settled', giveBack: checked.failed * price },
      { sends: checked.asked },
    )
    if (!ended)
      throw new AppError(1005, {
        zh: '域名检测失败，请稍后重试',
        en: 'The domain check failed, please try again',
      })
    return { items, results: checked.results, givenBack, remaining: remaining ?? charged.remaining }
  }
}
