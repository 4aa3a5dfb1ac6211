// The gateway for anything else: JSON over POST, signed with HMAC-SHA256. README.md beside this folder is its interface.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type HttpResult, httpCall, parseJsonObject } from '../../upstream/http-call.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import { type Fate, type ReceiptForm, refusalReasons, type Sent, type SmsGateway } from '../port.ts'
import { codeOf, readEach, textOf } from './json.ts'

export interface HttpGatewayOptions {
  readonly url: string
  readonly secret: string
  readonly timeoutMs: number
}

/** How far the clock of a receipt's sender may be off. */
const clockToleranceS = 300

export function httpGateway(options: HttpGatewayOptions): SmsGateway {
  function call(
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Promise<HttpResult> {
    const body = JSON.stringify(fields)
    const timestamp = String(Math.floor(Date.now() / 1000))
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-tollgate-timestamp': timestamp,
      'x-tollgate-signature': signatureOf(options.secret, timestamp, body),
    }
    return httpCall(
      { method: 'POST', url: options.url, headers, body },
      { timeoutMs: options.timeoutMs, signal },
    )
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
      return readAnswer(await call(fields, signal))
    },

    async ask(question, signal) {
      const fields = {
        action: 'query',
        biz_id: question.bizId,
        id: question.gatewayId ?? null,
        phone_number: question.phone,
        sent_at: Math.floor(question.sentAt / 1000),
      }
      const answer = answerOf(await call(fields, signal))
      if (answer?.['result'] === 'not_found') return []
      const state = fateStates.get(answer?.['status'])
      if (answer?.['result'] !== 'found' || state === undefined) return undefined
      const code = codeOf(answer['code'])
      return [{ bizId: question.bizId, gatewayId: textOf(answer['id']), phone: question.phone, state, code }]
    },

    async probe(signal) {
      const result = await call({ action: 'ping' }, signal)
      if (result.kind !== 'answer') return { ok: false, detail: result.reason }
      const ok = answerOf(result)?.['result'] === 'pong'
      return { ok, detail: ok ? 'pong' : `http_${result.status}` }
    },
  }
}

function signatureOf(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`
}

function answerOf(result: HttpResult): Readonly<Record<string, unknown>> | undefined {
  return result.kind === 'answer' && result.status === 200 ? parseJsonObject(result.body) : undefined
}

function readAnswer(result: HttpResult): Outcome<Sent> {
  if (result.kind !== 'answer') return result
  if (result.status !== 200) return { kind: 'ambiguous', reason: `http_${result.status}` }
  const answer = answerOf(result)
  const code = codeOf(answer?.['code']) || 'no_code'
  switch (answer?.['result']) {
    case 'accepted':
      return { kind: 'accepted', value: { gatewayId: textOf(answer['id']) } }
    case 'refused': {
      const reason = refusalReasons.find((one) => one === answer['reason']) ?? 'content'
      return { kind: 'refused', code, reason }
    }
    case 'throttled':
      return { kind: 'throttled', concerns: 'recipient', reason: code }
    case 'not_sent':
      return { kind: 'not_sent', reason: code }
    default:
      return { kind: 'ambiguous', reason: 'no_result' }
  }
}

const fateStates: ReadonlyMap<unknown, Fate['state']> = new Map([
  ['accepted', 'accepted'],
  ['delivered', 'delivered'],
  ['failed', 'undelivered'],
])

export function httpReceipts(secret: string, now: () => number = Date.now): ReceiptForm {
  return {
    read({ headers, body }) {
      const timestamp = headers['x-tollgate-timestamp']
      const signature = headers['x-tollgate-signature']
      if (typeof timestamp !== 'string' || typeof signature !== 'string') return { kind: 'forged' }
      if (!/^\d{1,12}$/.test(timestamp)) return { kind: 'forged' }
      if (Math.abs(Number(timestamp) - now() / 1000) > clockToleranceS) return { kind: 'forged' }
      if (!isSame(signature, signatureOf(secret, timestamp, body))) return { kind: 'forged' }
      const items = parseJsonObject(body)?.['receipts']
      return readEach(Array.isArray(items) ? items : undefined, receiptOf)
    },
    received: { result: 'received' },
    refused: { result: 'malformed' },
  }
}

function receiptOf(item: Readonly<Record<string, unknown>>): Fate | undefined {
  const phone = textOf(item['phone_number'])
  const state = fateStates.get(item['status'])
  const bizId = textOf(item['biz_id'])
  const gatewayId = textOf(item['id'])
  if (phone === undefined || state === undefined || state === 'accepted') return undefined
  if (bizId === undefined && gatewayId === undefined) return undefined
  return { bizId, gatewayId, phone, state, code: codeOf(item['code']) }
}

function isSame(given: string, right: string): boolean {
  const one = Buffer.from(given)
  const other = Buffer.from(right)
  return one.length === other.length && timingSafeEqual(one, other)
}
