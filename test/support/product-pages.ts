// What the tests of the console's product pages share: a service, an account with some of everything, and a stranger.
import { requestRoutes } from '../../contract/console/requests.ts'
import type { ApiType } from '../../contract/credits.ts'
import type { Engine } from '../../server/db/database.ts'
import { type Browser, signedIn } from './console.ts'
import { type Reply, startService, type TestAccount, type TestService } from './service.ts'

export const plenty = { short_link: 100, sms: 100, id_verification: 100, domain_check: 100 }
export const phone = '13800138000'
export const person = { name: '张三', idcard: '11010519491231002X' }

export interface ProductPages extends AsyncDisposable {
  readonly service: TestService
  readonly browser: Browser
  readonly stranger: Browser
  /** Of the shared account, or of another one. */
  remaining(type: ApiType, of?: TestAccount): Promise<number>
  fresh(credits: Partial<Record<ApiType, number>>): Promise<{ made: TestAccount; browser: Browser }>
  /** The call as the inspector shows it. */
  inspected(requestId: string, by?: Browser): Promise<Reply['body']>
}

export async function openProductPages(engine: Engine): Promise<ProductPages> {
  const service = await startService(engine, { SWEEP_S: '3600', DOMAIN_WATCH_S: '3600' })
  const account = await service.account(plenty)
  const browser = await signedIn(service, account)
  const stranger = await signedIn(service, await service.account(plenty))
  return {
    service,
    browser,
    stranger,
    remaining: async (type, of = account) =>
      (await service.app.services.credits.balance(of.id, type)).remaining,
    async fresh(credits) {
      const made = await service.account(credits)
      return { made, browser: await signedIn(service, made) }
    },
    async inspected(requestId, by = browser) {
      await service.app.requestLog.flush()
      return (await by.call(requestRoutes.one, { parts: { id: requestId } })).body
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
