// Sample data of buying: packages, orders, invoice requests and reconciled days.
import { operatorPaymentRoutes, paymentRoutes } from '../../contract/console/payments.ts'
import { type Browser, createBrowser } from './console.ts'
import type { TestService } from './service.ts'

interface SignInDetails {
  readonly username: string
  readonly password: string
}

export async function addPayments(
  service: TestService,
  accounts: { readonly holder: SignInDetails; readonly operator: SignInDetails },
): Promise<void> {
  const holder = createBrowser(service)
  await holder.signIn(accounts.holder.username, accounts.holder.password)
  const operator = createBrowser(service)
  await operator.signIn(accounts.operator.username, accounts.operator.password)
  await operator.confirm()

  const offer = { currency: 'CNY', hidden: false, note: '上架' }
  await send(operator, operatorPaymentRoutes.addPackage, {
    ...offer,
    code: 'basic',
    name: '基础包',
    credits: { sms: 1_000, short_link: 100 },
    price: '99.00',
  })
  await send(operator, operatorPaymentRoutes.addPackage, {
    ...offer,
    code: 'pro',
    name: '专业包',
    credits: { sms: 10_000, short_link: 2_000, domain_check: 500 },
    price: '899.00',
  })
  const numbers: string[] = []
  for (const code of ['basic', 'pro', 'basic', 'basic']) {
    const order = await send(holder, paymentRoutes.createOrder, { package: code, provider: 'sandbox' })
    numbers.push(order.number as string)
    if (numbers.length < 4) await fetch(order.pay_url as string, { method: 'POST' })
  }
  const request = {
    kind: 'normal',
    title: '示例科技有限公司',
    tax_number: '91310000MA1FL0000X',
    mail: 'finance@example.com',
  }
  const wrong = await send(holder, paymentRoutes.requestInvoice, { ...request, orders: [numbers[0]] })
  await send(
    operator,
    operatorPaymentRoutes.rejectInvoice,
    { note: '抬头与税号不符' },
    { id: wrong.id as number },
  )
  const issued = await send(holder, paymentRoutes.requestInvoice, { ...request, orders: [numbers[1]] })
  const file = Buffer.from('%PDF-1.7').toString('base64')
  const pdf = { number: '26312000000000000001', file_name: 'invoice.pdf', file, note: '已开具' }
  await send(operator, operatorPaymentRoutes.issueInvoice, pdf, { id: issued.id as number })
  await send(holder, paymentRoutes.requestInvoice, { ...request, orders: [numbers[0]] })
  await addReconciliations(service, numbers)
}

/** Bills exist for real providers only. */
async function addReconciliations({ installation }: TestService, numbers: readonly string[]): Promise<void> {
  await installation.db.write(async (tx) => {
    const add = (provider: string, day: string, more: string) =>
      tx.insert(
        `INSERT INTO payment_reconciliation (provider, day, state, at, orders, amount, their_orders, their_amount, differences,
           attempts, last_reason) VALUES (?, ?, ${more})`,
        [provider, day],
      )
    await add('alipay', '2026-01-02', `'done', 1767410000000, 12, 118800, 12, 118800, 0, 1, NULL`)
    await add('wechatpay', '2026-01-03', `'running', 1767496400000, 0, 0, 0, 0, 0, 2, 'STATEMENT_CREATING'`)
    const id = await add('alipay', '2026-01-03', `'done', 1767496400000, 9, 89100, 10, 99000, 2, 1, NULL`)
    const difference = (number: string, kind: string, ours: string, theirs: string, end: string) =>
      tx.run(
        `INSERT INTO payment_difference (reconciliation_id, order_number, kind, ours, theirs, at, resolved_at, resolved_by, resolution)
         VALUES (?, ?, ?, ?, ?, 1767496400000, ${end})`,
        [id, number, kind, ours, theirs],
      )
    await difference(
      numbers[3]!,
      'not_granted',
      'closed 99.00 CNY',
      '99.00 CNY 2026010322001',
      `1767496400000, 'system', 'settled by reconciliation'`,
    )
    await difference(
      numbers[0]!,
      'paid_twice',
      'granted 99.00 CNY 2026010322002',
      '99.00 CNY 2026010322003',
      `NULL, NULL, ''`,
    )
  })
}

async function send(
  browser: Browser,
  route: Parameters<Browser['call']>[0],
  sent: Readonly<Record<string, unknown>>,
  parts: Readonly<Record<string, number>> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await browser.call(route, { sent, parts })
  if (status !== 200) throw new Error(`${route.path}: ${status} ${JSON.stringify(body)}`)
  return body as Readonly<Record<string, unknown>>
}
