// Alipay: the page and the QR code of one order, queries, closing and refunds over gateway.do; signed with RSA2.
import type { KeyObject } from 'node:crypto'
import { formatMinor, parseMinor } from '../../../contract/payments.ts'
import { dayMs, formatTime, minuteMs } from '../../../contract/time.ts'
import { httpCall } from '../../upstream/http-call.ts'
import { codeText, idText, type JsonObject, parseJsonObject } from '../../upstream/json.ts'
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
import { signRsa, verifyRsa } from '../signing.ts'
import { fetchAlipayBill } from './alipay-bill.ts'

export interface AlipayOptions extends ProviderAddresses {
  readonly appId: string
  readonly privateKey: KeyObject
  /** Alipay's. */
  readonly publicKey: KeyObject
  readonly endpoint: string
  readonly timeoutMs: number
}

type AlipayFields = Readonly<Record<string, string>>

/** A signed answer, or why there is none. */
type AlipayResponse = { readonly fields: JsonObject } | { readonly reason: string; readonly isSent: boolean }

/** Refunds that cannot succeed. All other codes are asked again: with the same number Alipay refunds once. */
const finalRefusals = [
  'TRADE_HAS_FINISHED',
  'REASON_TRADE_REFUND_FEE_ERR',
  'REFUND_AMT_NOT_EQUAL_TOTAL',
  'TRADE_NOT_ALLOW_REFUND',
  'NOT_ALLOW_PARTIAL_REFUND',
  'TRADE_NOT_EXIST',
  'DISCORDANT_REPEAT_REQUEST',
]

/** Refused because of the state of the payment, which an earlier attempt with the same number may have caused. */
const stateRefusals = ['TRADE_STATUS_ERROR', 'REASON_TRADE_BEEN_FREEZEN']

/** After this time a refund that an earlier attempt has begun is visible in queries. Alipay documents ten seconds. */
const visibleMs = 30_000

export function createAlipay(options: AlipayOptions): PaymentProvider {
  function signed(
    method: string,
    content: Readonly<Record<string, string>>,
    more: AlipayFields = {},
  ): AlipayFields {
    const fields: AlipayFields = {
      app_id: options.appId,
      method,
      format: 'JSON',
      charset: 'utf-8',
      sign_type: 'RSA2',
      timestamp: formatTime(Date.now()),
      version: '1.0',
      ...more,
      biz_content: JSON.stringify(content),
    }
    return { ...fields, sign: signRsa(options.privateKey, textToSign(fields)) }
  }

  async function call(
    method: string,
    content: Readonly<Record<string, string>>,
    more?: AlipayFields,
  ): Promise<AlipayResponse> {
    const { biz_content: bizContent, ...query } = signed(method, content, more)
    const result = await httpCall(
      {
        method: 'POST',
        url: addQuery(options.endpoint, query),
        headers: {
          'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
          accept: 'application/json',
        },
        body: new URLSearchParams({ biz_content: bizContent! }).toString(),
      },
      { timeoutMs: options.timeoutMs },
    )
    if (result.kind !== 'response') return { reason: result.reason, isSent: result.kind !== 'not_sent' }
    if (result.status !== 200 || result.truncated) return { reason: `http_${result.status}`, isSent: true }
    const fields = readSignedAnswer(result.body, method, options.publicKey)
    return fields ? { fields } : { reason: 'unsigned_answer', isSent: true }
  }

  const orderFields = (order: PaymentOrder, productCode: string) => ({
    out_trade_no: order.number,
    total_amount: formatMinor(order.amount),
    // The characters / = & are refused.
    subject: order.package_name.replaceAll(/[/=&]/g, ' '),
    product_code: productCode,
    time_expire: formatTime(order.provider_expires_at),
  })

  return {
    name: 'alipay',
    currency: 'CNY',
    waitMs: { min: minuteMs, max: 15 * dayMs },

    async open(order) {
      const page = signed('alipay.trade.page.pay', orderFields(order, 'FAST_INSTANT_TRADE_PAY'), {
        notify_url: options.notifyUrl(),
        return_url: options.returnUrl(order.number),
      })
      const payUrl = addQuery(options.endpoint, page)
      const answer = await call('alipay.trade.precreate', orderFields(order, 'QR_CODE_OFFLINE'), {
        notify_url: options.notifyUrl(),
      })
      // The page needs no call, so the order can be paid even when there is no QR code.
      const code =
        'fields' in answer && answer.fields['code'] === '10000' ? answer.fields['qr_code'] : undefined
      return { kind: 'opened', payUrl, ...(isUrl(code) && { codeUrl: code }) }
    },

    async query(order) {
      return readStatus(await call('alipay.trade.query', { out_trade_no: order.number }), order.number)
    },

    async close(order) {
      await call('alipay.trade.close', { out_trade_no: order.number })
    },

    async refund({ order, number, amount, isRepeat, sinceLastMs }) {
      const answer = await call('alipay.trade.refund', {
        out_trade_no: order.number,
        refund_amount: formatMinor(amount),
        out_request_no: number,
      })
      const result = readRefund(answer)
      if (result.kind !== 'query') return result
      const query = await call('alipay.trade.fastpay.refund.query', {
        out_trade_no: order.number,
        out_request_no: number,
      })
      const known = 'fields' in query && query.fields['code'] === '10000' ? query.fields : undefined
      const status = idText(known?.['refund_status'])
      if (status === 'REFUND_SUCCESS') {
        const refunded = parseMinor(codeText(known?.['refund_amount']) ?? '')
        return otherRefund(refunded, amount) ?? { kind: 'succeeded' }
      }
      if (result.refusal === undefined) return { kind: 'pending', reason: 'not_confirmed' }
      // Without a status, Alipay knows of no refund with this number, or not yet.
      const isProven = known && status === undefined && (!isRepeat || sinceLastMs >= visibleMs)
      return { kind: isProven ? 'failed' : 'unknown', reason: result.refusal }
    },

    fetchBill: (day) => fetchAlipayBill({ day, timeoutMs: options.timeoutMs, call }),

    notifications: {
      parse: ({ body }) => readNotification(body, options),
      answers: {
        success: { status: 200, body: 'success', type: 'text/plain; charset=utf-8' },
        forged: { status: 400, body: 'fail', type: 'text/plain; charset=utf-8' },
        refused: { status: 200, body: 'fail', type: 'text/plain; charset=utf-8' },
        again: { status: 200, body: 'fail', type: 'text/plain; charset=utf-8' },
      },
    },
  }
}

/** Values are raw, empty ones are left out: the gateway refuses a signature over them. */
export function textToSign(fields: AlipayFields): string {
  return Object.keys(fields)
    .filter((name) => name !== 'sign' && fields[name] !== '')
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&')
}

function addQuery(endpoint: string, fields: AlipayFields): string {
  return `${endpoint}${endpoint.includes('?') ? '&' : '?'}${new URLSearchParams(fields).toString()}`
}

/** The fields of the answer to `method`; undefined when they are not signed by Alipay. */
export function readSignedAnswer(text: string, method: string, publicKey: KeyObject): JsonObject | undefined {
  const spans = topLevelValues(text)
  const node = spans?.get(`${method.replaceAll('.', '_')}_response`) ?? spans?.get('error_response')
  const signature = parseJsonObject(text)?.['sign']
  if (node === undefined || typeof signature !== 'string') return undefined
  return verifyRsa(publicKey, node, signature) ? parseJsonObject(node) : undefined
}

/** The raw text of each value of a JSON object: the signature covers it byte for byte. A repeated name makes the answer invalid. */
function topLevelValues(text: string): Map<string, string> | undefined {
  if (!parseJsonObject(text)) return undefined
  const values = new Map<string, string>()
  let position = text.indexOf('{') + 1
  const skipSpace = () => {
    while (/\s/.test(text[position] ?? '')) position += 1
  }
  for (;;) {
    skipSpace()
    if (text[position] === '}' || position >= text.length) return values
    if (text[position] === ',') {
      position += 1
      continue
    }
    const nameEnd = endOfValue(text, position)
    const name = String(JSON.parse(text.slice(position, nameEnd)))
    position = text.indexOf(':', nameEnd) + 1
    skipSpace()
    const end = endOfValue(text, position)
    if (values.has(name)) return undefined
    values.set(name, text.slice(position, end))
    position = end
  }
}

/** Where the value that begins at `start` ends. The text is valid JSON. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  let inText = false
  for (let index = start; index < text.length; index += 1) {
    const character = text[index]
    if (inText) {
      if (character === '\\') index += 1
      else if (character === '"') {
        inText = false
        if (depth === 0) return index + 1
      }
      continue
    }
    if (character === '"') inText = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') {
      if (depth === 0) return index
      depth -= 1
      if (depth === 0) return index + 1
    } else if (character === ',' && depth === 0) return index
  }
  return text.length
}

const isUrl = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 1_024 && URL.parse(value) !== null

/** Some codes come without their prefix or with a misspelt one. */
function endsWith(code: unknown, endings: readonly string[]): boolean {
  return typeof code === 'string' && endings.some((ending) => code === ending || code.endsWith(`.${ending}`))
}

function readStatus(answer: AlipayResponse, number: string): PaymentStatus {
  if (!('fields' in answer)) return { kind: 'unknown', reason: answer.reason }
  const { fields } = answer
  if (fields['code'] === '40004' && endsWith(fields['sub_code'], ['TRADE_NOT_EXIST']))
    return { kind: 'unpaid' }
  if (fields['code'] !== '10000') {
    return { kind: 'unknown', reason: storableReason(fields['sub_code'] ?? fields['code']) }
  }
  if (fields['out_trade_no'] !== number) return { kind: 'unknown', reason: 'another_order' }
  switch (fields['trade_status']) {
    case 'WAIT_BUYER_PAY':
      return { kind: 'unpaid' }
    case 'TRADE_CLOSED':
      return { kind: 'closed' }
    case 'TRADE_SUCCESS':
    case 'TRADE_FINISHED': {
      const amount = parseMinor(codeText(fields['total_amount']) ?? '')
      const tradeNumber = codeText(fields['trade_no']) ?? ''
      if (amount === undefined) return { kind: 'unknown', reason: 'no_amount' }
      const currency = codeText(fields['trans_currency'] ?? fields['pay_currency']) ?? 'CNY'
      return { kind: 'paid', number, amount, currency, tradeNumber: tradeNumber.slice(0, 64) }
    }
    default:
      return { kind: 'unknown', reason: 'unknown_status' }
  }
}

/** `query`: only the query of the refund tells what became of it. */
type RefundAnswer = RefundResult | { readonly kind: 'query'; readonly refusal?: string }

function readRefund(answer: AlipayResponse): RefundAnswer {
  if (!('fields' in answer)) return { kind: 'unknown', reason: answer.reason }
  const { fields } = answer
  const reason = storableReason(fields['sub_code'] ?? fields['code'])
  if (fields['code'] === '10000') return { kind: fields['fund_change'] === 'Y' ? 'succeeded' : 'query' }
  if (fields['code'] === '40004') {
    if (endsWith(fields['sub_code'], finalRefusals)) return { kind: 'failed', reason }
    if (endsWith(fields['sub_code'], stateRefusals)) return { kind: 'query', refusal: reason }
  }
  return { kind: 'unknown', reason }
}

/** A notification has about 40 fields and a few kilobytes. Anyone can send half a million fields, which take as many milliseconds. */
const maxNotificationBytes = 65_536
const maxNotificationFields = 500

function isOversized(body: Buffer): boolean {
  if (body.length > maxNotificationBytes) return true
  let fields = 1
  for (const byte of body) if (byte === 0x26) fields += 1
  return fields > maxNotificationFields
}

/** All received fields are signed but `sign` and `sign_type`. */
function readNotification(body: Buffer, { appId, publicKey }: AlipayOptions): Notification {
  if (isOversized(body)) return { kind: 'forged', reason: 'too_large' }
  const pairs = [...new URLSearchParams(body.toString('utf8'))]
  const fields: AlipayFields = Object.fromEntries(pairs)
  if (Object.keys(fields).length !== pairs.length) return { kind: 'forged', reason: 'repeated_field' }
  // The algorithm is ours to choose: SHA-1 is never accepted.
  if (fields['sign_type'] !== 'RSA2') return { kind: 'forged', reason: 'sign_type' }
  const { sign = '' } = fields
  const content = Object.fromEntries(pairs.filter(([name]) => name !== 'sign' && name !== 'sign_type'))
  // Whether empty values are signed is not documented. Both texts are covered by the signature.
  const whole = Object.keys(content)
    .sort()
    .map((name) => `${name}=${content[name]}`)
    .join('&')
  if (!verifyRsa(publicKey, whole, sign) && !verifyRsa(publicKey, textToSign(content), sign)) {
    return { kind: 'forged', reason: 'signature' }
  }
  const number = content['out_trade_no'] ?? ''
  const status = content['trade_status']
  if (number === '') return { kind: 'ignored' }
  if (status !== 'TRADE_SUCCESS' && status !== 'TRADE_FINISHED') return { kind: 'changed', number }
  const amount = parseMinor(content['total_amount'] ?? '') ?? -1
  const currency = content['trans_currency'] ?? content['pay_currency'] ?? 'CNY'
  const claim = { kind: 'paid', number, amount, currency } as const
  return content['app_id'] === appId ? claim : { ...claim, problem: 'app_id' }
}
