// WeChat Pay APIv3: Native orders, queries, closing and refunds. Requests, answers and notifications are signed.
import { isUtf8 } from 'node:buffer'
import { createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { dayMs, isoTime, minuteMs } from '../../../contract/time.ts'
import { isRecord } from '../../../contract/values.ts'
import { httpCall } from '../../upstream/http-call.ts'
import { codeText, idText, type JsonObject, parseJsonObject, valueAt } from '../../upstream/json.ts'
import {
  type Notification,
  otherRefund,
  type PaymentProvider,
  type PaymentStatus,
  type ProviderAddresses,
  type RefundResult,
  storableReason,
} from '../port.ts'
import { signRsa, verifyRsa } from '../signing.ts'
import { fetchWechatpayBill } from './wechatpay-bill.ts'

export interface WechatpayOptions extends ProviderAddresses {
  readonly mchId: string
  readonly appId: string
  /** Of the merchant's certificate. */
  readonly serial: string
  readonly privateKey: KeyObject
  readonly apiV3Key: string
  /** WeChat Pay's public keys by ID. Requests ask for signatures with the first. */
  readonly publicKeys: ReadonlyMap<string, KeyObject>
  readonly endpoint: string
  readonly timeoutMs: number
}

/** Maximum difference between a timestamp and our clock. */
const clockToleranceS = 300

/**
 * Refunds that cannot succeed under their number, however often they are requested. A missing right, too little money and too
 * many calls are not among them: once that is changed, the same request succeeds.
 */
const finalRefusals: ReadonlySet<string> = new Set([
  'USER_ACCOUNT_ABNORMAL',
  'INVALID_REQUEST',
  'PARAM_ERROR',
  'RESOURCE_NOT_EXISTS',
  'TRADE_OVERDUE',
  'REFUND_FEE_MISMATCH',
])

/** After this time an attempt that was accepted is visible in queries. */
const visibleMs = 30_000

/** `body` is undefined without a valid signature; then only the status and code may be shown, never acted on. */
interface WechatpayResponse {
  readonly status: number
  readonly body: JsonObject | undefined
  readonly reason: string
}

export function createWechatpay(options: WechatpayOptions): PaymentProvider {
  const endpoint = options.endpoint.replace(/\/+$/, '')
  const [publicKeyId = ''] = options.publicKeys.keys()
  const basePath = new URL(endpoint).pathname.replace(/\/$/, '')

  function signedHeaders(method: 'GET' | 'POST', path: string, body: string): Record<string, string> {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const nonce = randomBytes(16).toString('hex')
    const message = [method, basePath + path, timestamp, nonce, body, ''].join('\n')
    const credentials = {
      mchid: options.mchId,
      nonce_str: nonce,
      signature: signRsa(options.privateKey, message),
      timestamp,
      serial_no: options.serial,
    }
    const authorization = Object.entries(credentials)
      .map(([name, value]) => `${name}="${value}"`)
      .join(',')
    return {
      authorization: `WECHATPAY2-SHA256-RSA2048 ${authorization}`,
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'tollgate',
      'wechatpay-serial': publicKeyId,
    }
  }

  async function call(
    method: 'GET' | 'POST',
    path: string,
    content?: JsonObject,
  ): Promise<WechatpayResponse> {
    const body = content ? JSON.stringify(content) : ''
    const headers = signedHeaders(method, path, body)
    const result = await httpCall(
      { method, url: endpoint + path, headers, body },
      { timeoutMs: options.timeoutMs },
    )
    if (result.kind !== 'response') return { status: 0, body: undefined, reason: result.reason }
    const { status } = result
    const parsed = parseJsonObject(result.body)
    const code = storableReason(parsed?.['code'], `http_${status}`)
    if (status < 200 || status > 299) return { status, body: undefined, reason: code }
    if (result.truncated || !isSigned(result.headers, result.body, options)) {
      return { status, body: undefined, reason: 'unsigned_answer' }
    }
    return { status, body: parsed ?? {}, reason: code }
  }

  /**
   * Refusals are not signed, so a signed answer must agree: nothing of the payment was refunded. After other refunds of the same
   * payment it cannot tell; then the query of this refund counts, which found none a moment ago.
   */
  async function wasNotRefunded(number: string, isAbsent: boolean): Promise<boolean> {
    const { body } = await call('GET', `${orderPath(number)}?mchid=${options.mchId}`)
    if (body?.['out_trade_no'] !== number) return false
    return body['trade_state'] === 'SUCCESS' || (body['trade_state'] === 'REFUND' && isAbsent)
  }

  const orderPath = (number: string) => `/v3/pay/transactions/out-trade-no/${number}`

  return {
    name: 'wechatpay',
    currency: 'CNY',
    // The minimum is one minute, and the request takes a few seconds to arrive.
    waitMs: { min: minuteMs + 5_000, max: 7 * dayMs },

    async open(order) {
      const { body, reason } = await call('POST', '/v3/pay/transactions/native', {
        appid: options.appId,
        mchid: options.mchId,
        description: order.package_name.slice(0, 40),
        out_trade_no: order.number,
        time_expire: isoTime(order.provider_expires_at),
        notify_url: options.notifyUrl(),
        amount: { total: order.amount, currency: 'CNY' },
      })
      const codeUrl = body?.['code_url']
      if (typeof codeUrl !== 'string' || codeUrl.length > 512) return { kind: 'unknown', reason }
      return { kind: 'opened', codeUrl }
    },

    async query(order) {
      const answer = await call('GET', `${orderPath(order.number)}?mchid=${options.mchId}`)
      return answer.body
        ? readStatus(answer.body, order.number, options)
        : { kind: 'unknown', reason: answer.reason }
    },

    async close(order) {
      await call('POST', `${orderPath(order.number)}/close`, { mchid: options.mchId })
    },

    async refund({ order, number, amount, isRepeat, sinceLastMs }) {
      const refundPath = '/v3/refund/domestic/refunds'
      let isAbsent = false
      if (isRepeat) {
        const known = await call('GET', `${refundPath}/${number}`)
        if (known.body) return readRefund(known.body, number, amount)
        // Only a 404 says that the refund was not accepted; the same number is refunded once in any case.
        if (known.status !== 404) return { kind: 'unknown', reason: known.reason }
        isAbsent = known.reason === 'RESOURCE_NOT_EXISTS'
      }
      const { body, reason } = await call('POST', refundPath, {
        out_trade_no: order.number,
        out_refund_no: number,
        notify_url: options.notifyUrl(),
        amount: { refund: amount, total: order.amount, currency: 'CNY' },
      })
      if (body) return readRefund(body, number, amount)
      const isOver = finalRefusals.has(reason) && (!isRepeat || sinceLastMs >= visibleMs)
      const isProven = isOver && (await wasNotRefunded(order.number, isAbsent))
      return { kind: isProven ? 'failed' : 'unknown', reason }
    },

    fetchBill: (day) =>
      fetchWechatpayBill({
        day,
        endpoint,
        timeoutMs: options.timeoutMs,
        call: (path) => call('GET', path),
        headers: (path) => signedHeaders('GET', path, ''),
      }),

    notifications: {
      parse: ({ headers, body }) => readNotification(headers, body, options),
      answers: {
        success: { status: 204, body: '', type: 'application/json' },
        forged: { status: 401, body: '{"code":"FAIL","message":"signature"}', type: 'application/json' },
        refused: { status: 400, body: '{"code":"FAIL","message":"refused"}', type: 'application/json' },
        again: { status: 503, body: '{"code":"FAIL","message":"try again"}', type: 'application/json' },
      },
    },
  }
}

function isSigned(
  headers: IncomingHttpHeaders,
  body: string,
  { publicKeys }: Pick<WechatpayOptions, 'publicKeys'>,
): boolean {
  const {
    'wechatpay-timestamp': timestamp,
    'wechatpay-nonce': nonce,
    'wechatpay-signature': signature,
    'wechatpay-serial': serial,
  } = headers
  if (typeof timestamp !== 'string' || typeof nonce !== 'string' || typeof signature !== 'string')
    return false
  const publicKey = typeof serial === 'string' ? publicKeys.get(serial) : undefined
  if (!publicKey || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(Number(timestamp) - Date.now() / 1000) >= clockToleranceS) return false
  return verifyRsa(publicKey, `${timestamp}\n${nonce}\n${body}\n`, signature)
}

function readStatus(body: JsonObject, number: string, options: WechatpayOptions): PaymentStatus {
  if (body['out_trade_no'] !== number) return { kind: 'unknown', reason: 'another_order' }
  if (body['mchid'] !== options.mchId) return { kind: 'contradiction', reason: 'mchid' }
  switch (body['trade_state']) {
    case 'NOTPAY':
    case 'USERPAYING':
    case 'PAYERROR':
      return { kind: 'unpaid' }
    case 'CLOSED':
    case 'REVOKED':
      return { kind: 'closed' }
    case 'REFUND':
      return { kind: 'contradiction', reason: 'refunded_at_provider' }
    case 'SUCCESS': {
      if (body['appid'] !== undefined && body['appid'] !== options.appId) {
        return { kind: 'contradiction', reason: 'appid' }
      }
      const claim = amountOf(body)
      if (!claim) return { kind: 'unknown', reason: 'no_amount' }
      return { kind: 'paid', number, ...claim, tradeNumber: idText(body['transaction_id']) ?? '' }
    }
    default:
      return { kind: 'unknown', reason: 'unknown_state' }
  }
}

/** `payer_total` may be lower because of coupons; `total` is what the order costs. */
function amountOf(body: JsonObject): { amount: number; currency: string } | undefined {
  const amount = isRecord(body['amount']) ? body['amount'] : {}
  const total = amount['total']
  if (typeof total !== 'number' || !Number.isSafeInteger(total)) return undefined
  return { amount: total, currency: codeText(amount['currency']) ?? 'CNY' }
}

function readRefund(body: JsonObject, number: string, amount: number): RefundResult {
  if (body['out_refund_no'] !== number) return { kind: 'unknown', reason: 'another_refund' }
  const other = otherRefund(valueAt(body, 'amount.refund'), amount)
  if (other) return other
  const ref = idText(body['refund_id'])
  switch (body['status']) {
    case 'SUCCESS':
      return { kind: 'succeeded', ...(ref !== undefined && { ref }) }
    case 'PROCESSING':
      return { kind: 'pending', reason: 'PROCESSING', ...(ref !== undefined && { ref }) }
    // The payer's card or account cannot receive it. An operator settles it on the merchant platform; then it succeeds.
    case 'ABNORMAL':
      return { kind: 'pending', reason: 'ABNORMAL', isStopped: true, ...(ref !== undefined && { ref }) }
    case 'CLOSED':
      return { kind: 'failed', reason: 'CLOSED' }
    default:
      return { kind: 'unknown', reason: 'unknown_status' }
  }
}

function readNotification(
  headers: IncomingHttpHeaders,
  body: Buffer,
  options: WechatpayOptions,
): Notification {
  // Decoding other bytes takes ten times as long.
  if (!isUtf8(body)) return { kind: 'forged', reason: 'content' }
  const text = body.toString('utf8')
  if (!isSigned(headers, text, options)) return { kind: 'forged', reason: 'signature' }
  const notification = parseJsonObject(text)
  const resource = isRecord(notification?.['resource'])
    ? decrypt(notification['resource'], options.apiV3Key)
    : undefined
  const content = resource === undefined ? undefined : parseJsonObject(resource)
  if (!content) return { kind: 'forged', reason: 'content' }
  const number = idText(content['out_trade_no'])
  if (number === undefined) return { kind: 'ignored' }
  if (notification?.['event_type'] !== 'TRANSACTION.SUCCESS' || content['trade_state'] !== 'SUCCESS') {
    return { kind: 'changed', number }
  }
  const claim = { kind: 'paid', number, ...(amountOf(content) ?? { amount: -1, currency: '' }) } as const
  if (content['mchid'] !== options.mchId) return { ...claim, problem: 'mchid' }
  return content['appid'] === options.appId ? claim : { ...claim, problem: 'appid' }
}

const tagBytes = 16

/** AEAD_AES_256_GCM; undefined for anything that does not decrypt. */
export function decrypt(resource: JsonObject, apiV3Key: string): string | undefined {
  const { ciphertext, nonce, associated_data: associated = '', algorithm = 'AEAD_AES_256_GCM' } = resource
  if (typeof ciphertext !== 'string' || typeof nonce !== 'string' || typeof associated !== 'string')
    return undefined
  if (algorithm !== 'AEAD_AES_256_GCM') return undefined
  try {
    const bytes = Buffer.from(ciphertext, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', apiV3Key, nonce)
    decipher.setAAD(Buffer.from(associated))
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
