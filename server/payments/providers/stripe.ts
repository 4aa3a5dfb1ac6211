// Stripe Checkout: one session per order, queries, expiry and refunds. Answers are trusted because of TLS, events because of their signature.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { hourMs, minuteMs } from '../../../contract/time.ts'
import { isRecord } from '../../../contract/values.ts'
import { httpCall } from '../../upstream/http-call.ts'
import { idText, type JsonObject, parseJsonObject, valueAt } from '../../upstream/json.ts'
import {
  type Notification,
  otherRefund,
  type PaymentOrder,
  type PaymentProvider,
  type PaymentStatus,
  type ProviderAddresses,
  type RefundResult,
  storableReason,
} from '../port.ts'
import { fetchStripeBill } from './stripe-bill.ts'

export interface StripeOptions extends ProviderAddresses {
  readonly secretKey: string
  readonly webhookSecret: string
  readonly endpoint: string
  readonly timeoutMs: number
}

/** The shapes of objects follow the version. */
const apiVersion = '2026-10-28.endive'
const clockToleranceS = 300
/** Stripe remembers an idempotency key for at least 24 hours. */
const keyLifeMs = 20 * hourMs

interface StripeResponse {
  readonly status: number
  readonly body: JsonObject | undefined
  readonly reason: string
}

type StripeFields = Readonly<Record<string, string>>

export function createStripe(options: StripeOptions): PaymentProvider {
  const endpoint = options.endpoint.replace(/\/+$/, '')

  async function call(path: string, fields?: StripeFields, idempotencyKey?: string): Promise<StripeResponse> {
    const result = await httpCall(
      {
        method: fields ? 'POST' : 'GET',
        url: endpoint + path,
        headers: {
          authorization: `Bearer ${options.secretKey}`,
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded',
          'stripe-version': apiVersion,
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        body: fields ? new URLSearchParams(fields).toString() : '',
      },
      { timeoutMs: options.timeoutMs },
    )
    if (result.kind !== 'response') return { status: 0, body: undefined, reason: result.reason }
    const body = result.truncated ? undefined : parseJsonObject(result.body)
    const code = valueAt(body, 'error.code') ?? valueAt(body, 'error.type')
    const reason = storableReason(code, `http_${result.status}`)
    return { status: result.status, body: result.status === 200 ? body : undefined, reason }
  }

  async function findSession(order: PaymentOrder): Promise<StripeResponse> {
    if (order.provider_ref === null) return { status: 0, body: undefined, reason: 'no_session' }
    return call(`/v1/checkout/sessions/${encodeURIComponent(order.provider_ref)}?expand[0]=payment_intent`)
  }

  return {
    name: 'stripe',
    waitMs: { min: 31 * minuteMs, max: 23 * hourMs },

    async open(order) {
      const fields: StripeFields = {
        mode: 'payment',
        client_reference_id: order.number,
        success_url: options.returnUrl(order.number),
        cancel_url: options.returnUrl(order.number),
        expires_at: String(Math.floor(order.provider_expires_at / 1000)),
        'line_items[0][quantity]': '1',
        'line_items[0][price_data][currency]': order.currency.toLowerCase(),
        'line_items[0][price_data][unit_amount]': String(order.amount),
        'line_items[0][price_data][product_data][name]': order.package_name,
        'metadata[order]': order.number,
        'payment_intent_data[metadata][order]': order.number,
      }
      const { body, reason } = await call('/v1/checkout/sessions', fields, `order-${order.number}`)
      const ref = idText(body?.['id'])
      const url = body?.['url']
      if (ref === undefined || typeof url !== 'string' || URL.parse(url) === null)
        return { kind: 'unknown', reason }
      return { kind: 'opened', payUrl: url, ref }
    },

    async query(order) {
      // Without a session its address was never shown to anyone.
      if (order.provider_ref === null) return { kind: 'unpaid' }
      const { body, reason } = await findSession(order)
      return body ? readSession(body, order.number) : { kind: 'unknown', reason }
    },

    async close(order) {
      if (order.provider_ref === null) return
      await call(`/v1/checkout/sessions/${encodeURIComponent(order.provider_ref)}/expire`, {})
    },

    async refund({ order, number, amount, ref, orderAgeMs }) {
      if (ref !== null) {
        const { body, reason } = await call(`/v1/refunds/${encodeURIComponent(ref)}`)
        return body ? readRefund(body, amount) : { kind: 'unknown', reason }
      }
      const session = await findSession(order)
      const intent = session.body?.['payment_intent']
      const intentId = idText(isRecord(intent) ? intent['id'] : intent)
      if (intentId === undefined)
        return { kind: 'unknown', reason: session.body ? 'no_payment' : session.reason }
      // After that time the key may be forgotten, and a second request would be a second refund, also of one that a restore has lost.
      const mayBeForgotten = Math.abs(orderAgeMs) > keyLifeMs
      if (mayBeForgotten) {
        const known = await findRefund(intentId, number, amount)
        if (known !== 'none') return known
      }
      const fields = { payment_intent: intentId, amount: String(amount), 'metadata[refund]': number }
      const { status, body, reason } = await call('/v1/refunds', fields, `refund-${number}`)
      if (body) return readRefund(body, amount)
      // The key was used with another amount.
      if (reason === 'idempotency_error' && !mayBeForgotten) {
        const known = await findRefund(intentId, number, amount)
        if (known !== 'none') return known
      }
      const isFinal = status === 400 && finalRefusals.has(reason)
      return isFinal ? { kind: 'failed', reason } : { kind: 'unknown', reason }
    },

    fetchBill: (day) => fetchStripeBill(day, call),

    notifications: {
      parse: ({ headers, body }) => readEvent(headers, body, options),
      answers: {
        success: { status: 200, body: '{"received":true}', type: 'application/json' },
        forged: { status: 400, body: '{"error":"signature"}', type: 'application/json' },
        refused: { status: 422, body: '{"error":"refused"}', type: 'application/json' },
        again: { status: 503, body: '{"error":"try again"}', type: 'application/json' },
      },
    },
  }

  async function findRefund(
    intentId: string,
    number: string,
    amount: number,
  ): Promise<RefundResult | 'none'> {
    const list = await call(`/v1/refunds?payment_intent=${encodeURIComponent(intentId)}&limit=100`)
    const items = list.body?.['data']
    if (!Array.isArray(items)) return { kind: 'unknown', reason: list.reason }
    const found = items.filter(isRecord).filter((item) => valueAt(item, 'metadata.refund') === number)
    const refund = found.find((item) => item['amount'] === amount) ?? found[0]
    if (refund) return readRefund(refund, amount)
    return list.body?.['has_more'] === true ? { kind: 'unknown', reason: 'too_many_refunds' } : 'none'
  }
}

/** Nothing was refunded under this number, and nothing can be. */
const finalRefusals: ReadonlySet<string> = new Set([
  'charge_already_refunded',
  'refund_amount_greater_than_charge',
])

function readSession(session: JsonObject, number: string): PaymentStatus {
  if (session['client_reference_id'] !== number) return { kind: 'contradiction', reason: 'another_order' }
  const { status, payment_status: payment } = session
  if (payment === 'paid') {
    const amount = session['amount_total']
    const currency = session['currency']
    if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || typeof currency !== 'string') {
      return { kind: 'unknown', reason: 'no_amount' }
    }
    const intent = session['payment_intent']
    const tradeNumber = idText(isRecord(intent) ? intent['id'] : intent) ?? ''
    const ref = idText(session['id'])
    return {
      kind: 'paid',
      number,
      amount,
      currency: currency.toUpperCase(),
      tradeNumber,
      ...(ref !== undefined && { ref }),
    }
  }
  if (payment !== 'unpaid') return { kind: 'unknown', reason: 'unknown_status' }
  // Complete and unpaid: a delayed payment method, the money may still come.
  return status === 'expired' ? { kind: 'closed' } : { kind: 'unpaid' }
}

function readRefund(body: JsonObject, amount: number): RefundResult {
  const ref = idText(body['id'])
  if (ref === undefined) return { kind: 'unknown', reason: 'no_id' }
  const other = otherRefund(body['amount'], amount)
  if (other) return other
  switch (body['status']) {
    case 'succeeded':
      return { kind: 'succeeded', ref }
    case 'pending':
    case 'requires_action':
      return { kind: 'pending', reason: body['status'], ref }
    case 'failed':
    case 'canceled':
      return { kind: 'failed', reason: storableReason(body['failure_reason'], body['status']) }
    default:
      return { kind: 'unknown', reason: 'unknown_status' }
  }
}

function isSignedEvent(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const header = headers['stripe-signature']
  if (typeof header !== 'string' || header.length > 2_000) return false
  const parts = header.split(',').map((part) => part.trim().split('='))
  const valuesOf = (name: string) => parts.filter(([key]) => key === name).map(([, value]) => value ?? '')
  const [timestamp = '', ...others] = valuesOf('t')
  if (others.length > 0 || !/^\d{1,12}$/.test(timestamp)) return false
  // The vendor's package accepts times in the future; a stolen event would never become stale.
  if (Math.abs(Number(timestamp) - Date.now() / 1000) > clockToleranceS) return false
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
  return valuesOf('v1').some((value) => {
    const given = Buffer.from(/^[\da-f]{64}$/.test(value) ? value : '', 'hex')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

function readEvent(headers: IncomingHttpHeaders, body: Buffer, options: StripeOptions): Notification {
  if (!isSignedEvent(headers, body, options.webhookSecret)) return { kind: 'forged', reason: 'signature' }
  const event = parseJsonObject(body.toString('utf8'))
  const object = valueAt(event, 'data.object')
  if (!event || !isRecord(object)) return { kind: 'forged', reason: 'content' }
  const type = String(event['type'])
  if (type.startsWith('checkout.session.')) return readSessionEvent(event, object, options)
  const ordered = idText(valueAt(object, 'metadata.order'))
  if (type.startsWith('charge.dispute.')) {
    // A dispute has none of the metadata of its payment.
    const tradeNumber = idText(object['payment_intent']) ?? ''
    return { kind: 'dispute', number: ordered, tradeNumber }
  }
  if (!type.startsWith('refund.') && type !== 'charge.refunded') return { kind: 'ignored' }
  // A refund has the number that we gave it, which begins with that of its order.
  const refund = idText(valueAt(object, 'metadata.refund')) ?? ''
  const number = ordered ?? /^(T\w{24})R\d+$/.exec(refund)?.[1]
  if (number === undefined) return { kind: 'ignored' }
  const status = object['status']
  if (refund === '' || (status !== 'failed' && status !== 'canceled')) return { kind: 'changed', number }
  return { kind: 'refund_failed', number, refund, reason: storableReason(object['failure_reason'], status) }
}

function readSessionEvent(event: JsonObject, session: JsonObject, options: StripeOptions): Notification {
  // Sessions of other programs that use the same Stripe account have no number, or one of another form.
  const number = idText(session['client_reference_id'])
  if (number === undefined || !/^\w{6,32}$/.test(number)) return { kind: 'ignored' }
  const paidTypes = ['checkout.session.completed', 'checkout.session.async_payment_succeeded']
  if (!paidTypes.includes(String(event['type'])) || session['payment_status'] !== 'paid') {
    return { kind: 'changed', number }
  }
  const amount = session['amount_total']
  const currency = session['currency']
  const ref = idText(session['id'])
  const claim = {
    kind: 'paid',
    number,
    amount: typeof amount === 'number' ? amount : -1,
    currency: typeof currency === 'string' ? currency.toUpperCase() : '',
    ...(ref !== undefined && { ref }),
  } as const
  const isLive = /^[sr]k_(live|test)_/.exec(options.secretKey)?.[1]
  const expectsLive = isLive === undefined ? undefined : isLive === 'live'
  if (
    expectsLive !== undefined &&
    typeof event['livemode'] === 'boolean' &&
    event['livemode'] !== expectsLive
  ) {
    return { ...claim, problem: 'livemode' }
  }
  if (session['mode'] !== undefined && session['mode'] !== 'payment') return { ...claim, problem: 'mode' }
  return claim
}
