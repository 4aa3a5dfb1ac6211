// The generic SMS gateway: JSON over POST, signed with HMAC-SHA256. ../README.md documents its interface.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isRecord } from '../../../contract/values.ts'
import { type HttpResult, httpCall } from '../../upstream/http-call.ts'
import { idText, type JsonObject, parseExactJsonObject, storableCode } from '../../upstream/json.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import {
  type DeliveryStatus,
  type ReceiptFormat,
  refusalReasons,
  type SentMessage,
  type SmsGateway,
} from '../port.ts'
import { parseItems, readReply } from './receipts.ts'

export interface HttpSmsOptions {
  readonly url: string
  readonly secret: string
  readonly timeoutMs: number
}

/** Maximum difference between the timestamp of a receipt and our clock. */
const clockToleranceS = 300

export function createHttpGateway(options: HttpSmsOptions): SmsGateway {
  function call(fields: JsonObject, signal: AbortSignal | undefined): Promise<HttpResult> {
    const body = JSON.stringify(fields)
    const timestamp = String(Math.floor(Date.now() / 1000))
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-tollgate-timestamp': timestamp,
      'x-tollgate-signature': sign(options.secret, timestamp, body),
    }
    const request = { method: 'POST', url: options.url, headers, body } as const
    return httpCall(request, { timeoutMs: options.timeoutMs, signal })
  }

  return {
    name: 'http',
    async send(message, signal) {
      const fields = {
        action: 'send',
        biz_id: message.bizId,
        phone_number: message.phone,
        sign_name: message.signName,
        template_code: message.templateId,
        template_params: Object.fromEntries(message.variables.map(({ name, value }) => [name, value])),
        content: message.text,
      }
      return readSendResponse(await call(fields, signal))
    },

    async queryStatus(query, signal) {
      const fields = {
        action: 'query',
        biz_id: query.bizId,
        id: query.gatewayId ?? null,
        phone_number: query.phone,
        sent_at: Math.floor(query.sentAt / 1000),
      }
      const body = readBody(await call(fields, signal))
      if (body?.['result'] === 'not_found') return []
      const state = states.get(body?.['status'])
      if (body?.['result'] !== 'found' || state === undefined) return undefined
      const { bizId, phone } = query
      return [{ bizId, gatewayId: idText(body['id']), phone, state, code: storableCode(body['code']) }]
    },

    async probe(signal) {
      const result = await call({ action: 'ping' }, signal)
      if (result.kind !== 'response') return { ok: false, detail: result.reason }
      const ok = readBody(result)?.['result'] === 'pong'
      return { ok, detail: ok ? 'pong' : `http_${result.status}` }
    },
  }
}

function sign(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`
}

function readBody(result: HttpResult): JsonObject | undefined {
  return result.kind === 'response' && result.status === 200 ? parseExactJsonObject(result.body) : undefined
}

function readSendResponse(result: HttpResult): Outcome<SentMessage> {
  if (result.kind !== 'response') return result
  if (result.status !== 200) return { kind: 'ambiguous', reason: `http_${result.status}` }
  const body = readBody(result)
  const code = storableCode(body?.['code']) || 'no_code'
  switch (body?.['result']) {
    case 'accepted':
      return { kind: 'accepted', value: { gatewayId: idText(body['id']) } }
    case 'refused':
      return {
        kind: 'refused',
        code,
        reason: refusalReasons.find((one) => one === body['reason']) ?? 'content',
      }
    case 'throttled':
      return { kind: 'throttled', concerns: 'recipient', reason: code }
    case 'not_sent':
      return { kind: 'not_sent', reason: code }
    default:
      return { kind: 'ambiguous', reason: 'no_result' }
  }
}

const states: ReadonlyMap<unknown, DeliveryStatus['state']> = new Map([
  ['accepted', 'accepted'],
  ['delivered', 'delivered'],
  ['failed', 'undelivered'],
])

export function createHttpReceipts(secret: string, now: () => number = Date.now): ReceiptFormat {
  return {
    parse({ headers, body, json }) {
      const timestamp = headers['x-tollgate-timestamp']
      const signature = headers['x-tollgate-signature']
      if (typeof timestamp !== 'string' || typeof signature !== 'string') return { kind: 'forged' }
      if (!/^\d{1,12}$/.test(timestamp)) return { kind: 'forged' }
      if (Math.abs(Number(timestamp) - now() / 1000) > clockToleranceS) return { kind: 'forged' }
      if (!isEqual(signature, sign(secret, timestamp, body))) return { kind: 'forged' }
      const push = json()
      if (!isRecord(push)) return { kind: 'malformed' }
      const lists = [push['receipts'], push['replies']].filter((list) => list !== undefined)
      if (lists.length === 0 || !lists.every((list) => Array.isArray(list))) return { kind: 'malformed' }
      // A receipt may have other fields, the text of the message for example. Only its list makes an item a reply.
      const replies = new Set(push['replies'] as unknown[] | undefined)
      return parseItems(lists.flat() as unknown[], {
        receipt: (item) => (replies.has(item) ? undefined : parseReceipt(item)),
        reply: (item) =>
          replies.has(item)
            ? readReply({
                phone: item['phone_number'],
                content: item['content'],
                signName: item['sign_name'],
                id: item['id'],
                facts: [item['received_at']],
              })
            : undefined,
      })
    },
    successBody: { result: 'received' },
    errorBody: { result: 'malformed' },
  }
}

function parseReceipt(item: JsonObject): DeliveryStatus | undefined {
  const phone = idText(item['phone_number'])
  const state = states.get(item['status'])
  const bizId = idText(item['biz_id'])
  const gatewayId = idText(item['id'])
  if (phone === undefined || state === undefined || state === 'accepted') return undefined
  if (bizId === undefined && gatewayId === undefined) return undefined
  return { bizId, gatewayId, phone, state, code: storableCode(item['code']) }
}

function isEqual(given: string, expected: string): boolean {
  const one = Buffer.from(given)
  const other = Buffer.from(expected)
  return one.length === other.length && timingSafeEqual(one, other)
}
