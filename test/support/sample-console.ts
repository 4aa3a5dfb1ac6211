// Sample data created through the console: reviews, redeem codes, domain checks and account changes.
import { creditRoutes } from '../../contract/console/credits.ts'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import { operatorProductRoutes } from '../../contract/console/operator-products.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import { type Browser, type CallOptions, createBrowser } from './console.ts'
import type { TestService } from './service.ts'

interface SignInDetails {
  readonly id: number
  readonly username: string
  readonly password: string
}

export async function addConsoleActions(
  service: TestService,
  accounts: {
    readonly holder: SignInDetails
    readonly operator: SignInDetails
    readonly other: SignInDetails
  },
): Promise<void> {
  const holder = createBrowser(service)
  await holder.signIn(accounts.holder.username, accounts.holder.password)
  const operator = createBrowser(service)
  await operator.signIn(accounts.operator.username, accounts.operator.password)
  await operator.confirm()

  const refused = await call(holder, smsRoutes.createTemplate, {
    sent: { code: 'SALE_SPRING', name: '春季促销', content: '全场五折，回T退订，点击 ${link} 抢购' },
  })
  await call(operator, operatorProductRoutes.decideReview, {
    parts: { kind: 'template', id: refused.body.id },
    sent: { verdict: 'refuse', reason: '营销内容必须注明商家名称', note: '营销模板' },
  })

  const batch = { api_type: 'sms', amount: 1_000, count: 20, note: '十一月渠道赠送' }
  const created = await call(operator, operatorRoutes.makeRedeemBatch, { sent: batch })
  const [code] = created.body.codes as readonly string[]
  await call(holder, creditRoutes.redeem, { sent: { code } })
  const wrongBatch = {
    api_type: 'domain_check',
    amount: 500,
    count: 5,
    expires_on: '2027-06-30',
    note: '面额有误',
  }
  const second = await call(operator, operatorRoutes.makeRedeemBatch, { sent: wrongBatch })
  await call(operator, operatorRoutes.revokeRedeemBatch, {
    parts: { id: second.body.batch.id },
    sent: { note: '面额有误，作废重做' },
  })

  const parts = { id: accounts.other.id }
  await call(operator, operatorRoutes.changeCredits, {
    parts,
    sent: { api_type: 'short_link', direction: 'grant', amount: 2_000, note: '合同 2026-118' },
  })
  await call(operator, operatorRoutes.changeAccount, { parts, sent: { suspended: true, note: '欠费' } })
  await call(operator, operatorProductRoutes.addDomain, {
    sent: { pool: 'a', host: 'go.blocked.test', note: '新购' },
  })

  for (const domains of [['shop.example.com', 'm.example.com', 'blocked.test'], ['down.test']]) {
    await call(holder, domainCheckRoutes.start, { sent: { urls: domains } })
  }
}

/** Throws on failure, because an empty page would look like a success. */
async function call(browser: Browser, route: Parameters<Browser['call']>[0], options: CallOptions) {
  const reply = await browser.call(route, options)
  if (reply.status !== 200) throw new Error(`${route.path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  return reply
}
