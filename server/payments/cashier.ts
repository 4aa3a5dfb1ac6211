// The sandbox cashier: a page that pays an order without money. It exists only while every gateway is the sandbox.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { formatMinor } from '../../contract/payments.ts'
import { escapeHtml } from '../http/html.ts'
import type { Services } from '../services.ts'
import type { Payments } from './payments.ts'
import { cashierPath } from './providers.ts'
import { findOrderById, findOrderByToken, type OrderRow, updateSandboxPaid } from './store.ts'

const style = `body{font:17px/1.7 system-ui,"PingFang SC","Microsoft YaHei",sans-serif;max-width:28rem;margin:10vh auto;padding:0 1.5rem;color:#1f2328;background:#fff}
h1{font-size:1.4rem;margin:0 0 .5rem}p{margin:.4rem 0;color:#57606a}dl{display:grid;grid-template-columns:auto 1fr;gap:.3rem 1rem;margin:1.2rem 0}
dt{color:#57606a}dd{margin:0;word-break:break-all}.amount{font-size:1.6rem;font-weight:600}
button{font:inherit;width:100%;padding:.7rem;border:0;border-radius:.5rem;background:#1f6feb;color:#fff;cursor:pointer}
button:focus-visible{outline:3px solid #9ec5fe}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}p,dt{color:#9198a1}}`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
} as const

const stateText: Readonly<Record<OrderRow['state'], string>> = {
  pending: '待支付 · Waiting for payment',
  paid: '已支付，退款处理中 · Paid, being refunded',
  granted: '已支付，额度已到账 · Paid, the credits were granted',
  closed: '已关闭 · Closed',
  refunded: '已退款 · Refunded',
  partly_refunded: '已部分退款 · Partly refunded',
}

/** The token in the URL is the only credential: whoever has the address may pay. */
export function registerCashier(api: FastifyInstance, { db }: Services, payments: Payments): void {
  if (!payments.providers.has('sandbox')) return
  const url = `${cashierPath}/:token`

  async function findPayable(token: string): Promise<OrderRow | undefined> {
    if (!/^[\w-]{32}$/.test(token)) return undefined
    const order = await findOrderByToken(db, token)
    return order?.provider === 'sandbox' ? order : undefined
  }

  const send = (reply: FastifyReply, order: OrderRow) => reply.code(200).headers(headers).send(page(order))

  api.get<{ Params: { token: string } }>(url, async (request, reply) => {
    const order = await findPayable(request.params.token)
    return order ? send(reply, order) : reply.callNotFound()
  })

  api.post<{ Params: { token: string } }>(url, async (request, reply) => {
    const order = await findPayable(request.params.token)
    if (!order) return reply.callNotFound()
    await db.write((tx) => updateSandboxPaid(tx, order.id))
    const paid = (await findOrderById(db, order.id)) ?? order
    await payments.orders.check(paid)
    return send(reply, (await findOrderById(db, order.id)) ?? paid)
  })
}

function page(order: OrderRow): string {
  const amount = `${formatMinor(order.amount)} ${order.currency}`
  const form =
    order.state === 'pending'
      ? `<form method="post"><button type="submit">支付 ${amount} · Pay</button></form>`
      : ''
  return `<!doctype html>
<html lang="zh-CN"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>沙箱收银台 · Sandbox cashier</title><style>${style}</style></head>
<body><main><h1>沙箱收银台 · Sandbox cashier</h1>
<p>仅用于试用，不会真实扣款。</p><p lang="en">For trying out: no money moves.</p>
<p class="amount">${amount}</p>
<dl><dt>订单 · Order</dt><dd>${escapeHtml(order.number)}</dd>
<dt>套餐 · Package</dt><dd>${escapeHtml(order.package_name)}</dd>
<dt>状态 · State</dt><dd>${stateText[order.state]}</dd></dl>
${form}</main></body></html>
`
}
