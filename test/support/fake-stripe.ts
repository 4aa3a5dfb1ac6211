// A fake Stripe: Checkout sessions, refunds, lists of charges and signed events.
import { createHmac } from 'node:crypto'
import { stripeList } from './fake-bills.ts'
import { emptyTrade, type FakeProvider, startFake, type Trade } from './fake-payments.ts'

export const webhookSecret = 'whsec_test_0123456789abcdef0123456789abcdef'

export function startStripe(): Promise<FakeProvider> {
  const session = (number: string, trade: Trade) => ({
    id: trade.session,
    object: 'checkout.session',
    url: `https://checkout.stripe.com/c/pay/${trade.session}`,
    mode: 'payment',
    client_reference_id: number,
    amount_total: trade.amount,
    currency: trade.currency.toLowerCase(),
    status: trade.state === 'paid' ? 'complete' : trade.state === 'closed' ? 'expired' : 'open',
    payment_status: trade.state === 'paid' ? 'paid' : 'unpaid',
    payment_intent: `pi_${trade.session}`,
  })
  const refund = ([key, amount]: readonly [string, number]) => ({
    id: `re_${key}`,
    status: 'succeeded',
    amount,
    metadata: { refund: key.replace('refund-', '') },
  })
  return startFake(
    (fake, request, body, response) => {
      if (request.headers.authorization !== 'Bearer sk_test_0001') fake.problems.push('authorization')
      const fields = Object.fromEntries(new URLSearchParams(body))
      const answer = (status: number, value: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      const url = request.url!
      if (url === '/v1/checkout/sessions') {
        const number = fields['client_reference_id']!
        const trade: Trade = {
          amount: Number(fields['line_items[0][price_data][unit_amount]']),
          currency: fields['line_items[0][price_data][currency]']!.toUpperCase(),
          state: 'open',
          refunds: new Map(),
          session: `cs_test_${number}`,
        }
        fake.trades.set(number, trade)
        return answer(200, session(number, trade))
      }
      const { pathname, searchParams } = new URL(url, 'http://localhost')
      const from = searchParams.get('created[gte]')
      if (from !== null) {
        const day = new Date(Number(from) * 1000 + 8 * 3_600_000).toISOString().slice(0, 10)
        const kind = pathname === '/v1/charges' ? 'charges' : 'refunds'
        if (fake.fault === 'bad_bill') return answer(500, { error: { type: 'api_error' } })
        const all = stripeList(kind, fake.bills.get(day) ?? []) as { id: string }[]
        const after = searchParams.get('starting_after')
        const first = after === null ? 0 : all.findIndex((one) => one.id === after) + 1
        const limit = Number(searchParams.get('limit'))
        return answer(200, {
          data: all.slice(first, first + limit),
          has_more: all.length > first + limit,
        })
      }
      const intent = fields['payment_intent'] ?? searchParams.get('payment_intent')
      const id = /sessions\/([\w]+)/.exec(url)?.[1] ?? intent?.slice(3)
      const [number, trade] = [...fake.trades].find(([, one]) => one.session === id) ?? []
      if (!number || !trade) return answer(404, { error: { code: 'resource_missing' } })
      if (url.endsWith('/expire')) {
        if (trade.state === 'open') trade.state = 'closed'
        return answer(200, session(number, trade))
      }
      if (url === '/v1/refunds') {
        const key = String(request.headers['idempotency-key'])
        const made = trade.refunds.get(key)
        if (made !== undefined && made !== Number(fields['amount']))
          return answer(400, { error: { type: 'idempotency_error' } })
        trade.refunds.set(key, Number(fields['amount']))
        if (fake.fault === 'silent_refund') return
        return answer(200, refund([key, Number(fields['amount'])]))
      }
      if (pathname === '/v1/refunds')
        return answer(200, { data: Array.from(trade.refunds, refund), has_more: false })
      const shown = fake.fault === 'lies_unpaid' ? { ...trade, state: 'open' as const } : trade
      return answer(200, session(number, shown))
    },
    (url) => ({
      STRIPE_SECRET_KEY: 'sk_test_0001',
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_ENDPOINT: url,
    }),
    (fake, number, change) => {
      const trade = fake.trades.get(number) ?? emptyTrade
      const object = {
        ...session(number, { ...trade, state: 'paid' }),
        amount_total: change.amount ?? trade.amount,
        ...(change.currency !== undefined && { currency: change.currency.toLowerCase() }),
      }
      const body = JSON.stringify({
        id: `evt_${number}`,
        type: 'checkout.session.completed',
        livemode: change.merchant !== undefined,
        data: { object },
      })
      const timestamp = Math.floor(Date.now() / 1000) - (change.ageS ?? 0)
      const secret = change.key === undefined ? webhookSecret : 'whsec_other'
      const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
      const headers = {
        'content-type': 'application/json',
        'stripe-signature': `t=${timestamp},v1=${signature}`,
      }
      return { headers, body: change.cut ? body.slice(0, -9) : body }
    },
  )
}
