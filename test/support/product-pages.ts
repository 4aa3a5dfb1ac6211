// Shared setup of the tests of product pages: a service, an account with all credit types, and a second account.
import { requestRoutes } from '../../contract/console/requests.ts'
import type { ApiType } from '../../contract/credits.ts'
import type { Engine } from '../../server/db/database.ts'
import { type Browser, signedIn } from './console.ts'
import { type Reply, startService, type TestAccount, type TestService } from './service.ts'

export const allCredits = { short_link: 100, sms: 100, id_verification: 100, domain_check: 100 }
export const phone = '13800138000'
export const person = { name: '张三', idcard: '11010519491231002X' }

export interface ProductPages extends AsyncDisposable {
  readonly service: TestService
  readonly browser: Browser
  readonly otherBrowser: Browser
  /** The balance of the shared account by default. */
  remaining(type: ApiType, account?: TestAccount): Promise<number>
  createAccount(
    credits: Partial<Record<ApiType, number>>,
  ): Promise<{ account: TestAccount; browser: Browser }>
  /** Returns the call as the console shows it. */
  loadRequest(requestId: string, client?: Browser): Promise<Reply['body']>
}

export async function openProductPages(engine: Engine): Promise<ProductPages> {
  const service = await startService(engine, { SWEEP_S: '3600', DOMAIN_WATCH_S: '3600' })
  const account = await service.account(allCredits)
  const browser = await signedIn(service, account)
  const otherBrowser = await signedIn(service, await service.account(allCredits))
  return {
    service,
    browser,
    otherBrowser,
    remaining: async (type, { id } = account) =>
      (await service.app.services.credits.balance(id, type)).remaining,
    async createAccount(credits) {
      const created = await service.account(credits)
      return { account: created, browser: await signedIn(service, created) }
    },
    async loadRequest(requestId, client = browser) {
      await service.app.requestLog.flush()
      return (await client.call(requestRoutes.one, { parts: { id: requestId } })).body
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
