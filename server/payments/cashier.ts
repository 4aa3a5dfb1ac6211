// The sandbox cashier: a page that pays an order without money. It exists only while every gateway is the sandbox.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { formatMinor } from '../../contract/payments.ts'
import type { Language } from '../../contract/text.ts'
import { languageOf } from '../http/call.ts'
import { escapeHtml } from '../http/html.ts'
import { logo, visitorPageHeaders } from '../http/visitor-page.ts'
import type { Services } from '../services.ts'
import type { Payments } from './payments.ts'
import { cashierPath } from './providers.ts'
import { findOrderById, findOrderByToken, type OrderRow, updateSandboxPaid } from './store.ts'

const style = `body{font:17px/1.7 system-ui,"PingFang SC","Microsoft YaHei",sans-serif;max-width:28rem;margin:10vh auto;padding:0 1.5rem;color:#1f2328;background:#fff}
.brand{display:flex;gap:.6rem;align-items:center;margin:0 0 2rem;font-weight:600;color:inherit}
h1{font-size:1.4rem;margin:0 0 .5rem}p{margin:.4rem 0;color:#57606a}dl{display:grid;grid-template-columns:auto 1fr;gap:.3rem 1rem;margin:1.2rem 0}
dt{color:#57606a}dd{margin:0;overflow-wrap:anywhere}.amount{font-size:1.6rem;font-weight:600;color:inherit}
button{font:inherit;width:100%;padding:.7rem;border:0;border-radius:.5rem;background:#1f6feb;color:#fff;cursor:pointer}
a{color:#0550ae}button:focus-visible,a:focus-visible{outline:3px solid #9ec5fe}
footer{display:flex;justify-content:space-between;margin-top:1.5rem}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}p,dt{color:#9198a1}a{color:#79b8ff}}`

const headers = { ...visitorPageHeaders(`'self'`), vary: 'accept-language' }

const texts = {
  zh: {
    title: '沙箱收银台',
    lead: '仅用于试用，不会真实扣款。',
    order: '订单号',
    package: '套餐',
    state: '状态',
    pay: (amount: string) => `支付 ${amount}`,
    back: '返回控制台',
    other: '<a href="?lang=en" lang="en" hreflang="en">English</a>',
    states: {
      pending: '待支付',
      paid: '已支付，退款处理中',
      granted: '已支付，额度已到账',
      closed: '已关闭',
      refunded: '已退款',
      partly_refunded: '已部分退款',
    },
  },
  en: {
    title: 'Sandbox cashier',
    lead: 'For trying out: no money is charged.',
    order: 'Order',
    package: 'Package',
    state: 'Status',
    pay: (amount: string) => `Pay ${amount}`,
    back: 'Back to the console',
    other: '<a href="?lang=zh" lang="zh-CN" hreflang="zh-CN">中文</a>',
    states: {
      pending: 'Waiting for payment',
      paid: 'Paid, being refunded',
      granted: 'Paid, credits granted',
      closed: 'Closed',
      refunded: 'Refunded',
      partly_refunded: 'Partly refunded',
    },
  },
} as const

/** `?lang=` of the page, else the language of the browser. */
function cashierLanguage(request: FastifyRequest): Language {
  const { lang } = request.query as { readonly lang?: unknown }
  return lang === 'en' || lang === 'zh' ? lang : languageOf(request.raw)
}

/** The token in the URL is the only credential: anyone who has the address may pay. */
export function registerCashier(api: FastifyInstance, { db }: Services, payments: Payments): void {
  if (!payments.providers.has('sandbox')) return
  const url = `${cashierPath}/:token`

  async function findPayable(token: string): Promise<OrderRow | undefined> {
    if (!/^[\w-]{32}$/.test(token)) return undefined
    const order = await findOrderByToken(db, token)
    return order?.provider === 'sandbox' ? order : undefined
  }

  const send = (request: FastifyRequest, reply: FastifyReply, order: OrderRow) =>
    reply
      .code(200)
      .headers(headers)
      .send(page(order, cashierLanguage(request)))

  api.get<{ Params: { token: string } }>(url, async (request, reply) => {
    const order = await findPayable(request.params.token)
    return order ? send(request, reply, order) : reply.callNotFound()
  })

  api.post<{ Params: { token: string } }>(url, async (request, reply) => {
    const order = await findPayable(request.params.token)
    if (!order) return reply.callNotFound()
    await db.write((tx) => updateSandboxPaid(tx, order.id))
    const paid = (await findOrderById(db, order.id)) ?? order
    await payments.orders.check(paid)
    return send(request, reply, (await findOrderById(db, order.id)) ?? paid)
  })
}

function page(order: OrderRow, language: Language): string {
  const t = texts[language]
  const amount = `${formatMinor(order.amount)} ${order.currency}`
  const form =
    order.state === 'pending'
      ? `<form method="post"><button type="submit">${t.pay(amount)}</button></form>`
      : ''
  return `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${t.title}</title><style>${style}</style></head>
<body><main>${logo}<h1>${t.title}</h1>
<p>${t.lead}</p>
<p class="amount">${amount}</p>
<dl><dt>${t.order}</dt><dd>${escapeHtml(order.number)}</dd>
<dt>${t.package}</dt><dd>${escapeHtml(order.package_name)}</dd>
<dt>${t.state}</dt><dd>${t.states[order.state]}</dd></dl>
${form}
<footer><a href="/console/orders?open=${encodeURIComponent(order.number)}">${t.back}</a>${t.other}</footer></main></body></html>
`
}
