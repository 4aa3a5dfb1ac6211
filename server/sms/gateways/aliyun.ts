// Aliyun SMS (Dysmsapi 2017-05-25): SendSms, QuerySendDetails and the SmsReport push.
import { formatDay } from '../../../contract/time.ts'
import { type HttpResult, httpCall, parseJsonObject } from '../../upstream/http-call.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import { type AliyunKey, aliyunRequest } from '../../upstream/signing/aliyun.ts'
import type { Fate, Question, ReceiptForm, RefusalReason, Sent, SmsGateway } from '../port.ts'
import { isRecord } from '../../../contract/values.ts'
import { codeOf, parseArray, readEach, textOf } from './json.ts'

export interface AliyunOptions {
  readonly key: AliyunKey
  readonly endpoint: string
  readonly timeoutMs: number
}

const version = '2017-05-25'

/** The vendor's own sample number: reading its history needs right credentials and sends nothing. */
const probePhone = '13800138000'

const pageSize = 50
const mostPages = 10

/** What a listed code means. `not_sent` concerns us, `not_here` this template or signature at this vendor only. */
type Meaning =
  | { readonly refused: RefusalReason }
  | 'throttled_recipient'
  | 'not_here'
  | 'not_sent'
  | 'ambiguous'

/** Every code the vendor documents. What is not here is ambiguous. */
export const aliyunCodes: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['isv.MOBILE_NUMBER_ILLEGAL', { refused: 'number' }],
  ['isv.MOBILE_COUNT_OVER_LIMIT', { refused: 'number' }],
  ['isv.DOMESTIC_NUMBER_NOT_SUPPORTED', { refused: 'number' }],
  ['isv.TEMPLATE_MISSING_PARAMETERS', { refused: 'content' }],
  ['isv.INVALID_JSON_PARAM', { refused: 'content' }],
  ['isv.PARAM_LENGTH_LIMIT', { refused: 'content' }],
  ['isv.PARAM_NOT_SUPPORT_URL', { refused: 'content' }],
  ['isv.TEMPLATE_PARAMS_ILLEGAL', { refused: 'content' }],
  ['isv.SMS_CONTENT_ILLEGAL', { refused: 'content' }],
  ['isv.UNSUPPORTED_CONTENT', { refused: 'content' }],
  ['isv.SMS_CONTENT_MISMATCH_TEMPLATE_TYPE', { refused: 'content' }],
  ['isv.INVALID_PARAMETERS', { refused: 'content' }],
  ['isv.BLACK_KEY_CONTROL_LIMIT', { refused: 'blocked' }],
  ['isv.CUSTOMER_REFUSED', { refused: 'blocked' }],
  // Approved elsewhere, perhaps: the next gateway has templates and signatures of its own.
  ['isv.SMS_TEMPLATE_ILLEGAL', 'not_here'],
  ['isv.SMS_SIGNATURE_ILLEGAL', 'not_here'],
  ['isv.SMS_SIGN_ILLEGAL', 'not_here'],
  ['isv.SIGN_NAME_ILLEGAL', 'not_here'],
  ['isv.SIGN_STATE_ILLEGAL', 'not_here'],
  ['isv.SMS_SIGNATURE_SCENE_ILLEGAL', 'not_here'],
  ['isv.EXTEND_CODE_ERROR', 'not_here'],
  ['isv.BUSINESS_LIMIT_CONTROL', 'throttled_recipient'],
  ['isv.DAY_LIMIT_CONTROL', 'not_sent'],
  ['isv.MONTH_LIMIT_CONTROL', 'not_sent'],
  ['isv.AMOUNT_NOT_ENOUGH', 'not_sent'],
  ['isv.OUT_OF_SERVICE', 'not_sent'],
  ['isv.PRODUCT_UNSUBSCRIBE', 'not_sent'],
  ['isv.PRODUCT_UN_SUBSCRIPT', 'not_sent'],
  ['isv.ACCOUNT_NOT_EXISTS', 'not_sent'],
  ['isv.ACCOUNT_ABNORMAL', 'not_sent'],
  ['isv.DENY_IP_RANGE', 'not_sent'],
  ['isp.RAM_PERMISSION_DENY', 'not_sent'],
  ['SignatureDoesNotMatch', 'not_sent'],
  ['InvalidAccessKeyId.NotFound', 'not_sent'],
  ['Forbidden.RAM', 'not_sent'],
  ['InvalidTimeStamp.Expired', 'not_sent'],
  // Our nonces are 128 random bits. One that was used means that something on the way sent our request twice, and the
  // first of the two may have gone through.
  ['SignatureNonceUsed', 'ambiguous'],
  ['Throttling', 'not_sent'],
  ['Throttling.User', 'not_sent'],
  ['isp.SYSTEM_ERROR', 'ambiguous'],
  ['isp.GATEWAY_ERROR', 'ambiguous'],
  ['isp.UNKNOWN_ERROR', 'ambiguous'],
  ['InternalError', 'ambiguous'],
])

export function aliyunGateway(options: AliyunOptions): SmsGateway {
  function call(
    action: string,
    fields: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<HttpResult> {
    const { key, endpoint, timeoutMs } = options
    return httpCall(aliyunRequest({ key, endpoint, action, version, fields, fieldsIn: 'query' }), {
      timeoutMs,
      signal,
    })
  }

  /** One page of a number's history on one day; undefined when the vendor gave no proper answer. */
  async function page(question: Question, day: string, number: number, signal?: AbortSignal) {
    const fields: Record<string, string> = {
      PhoneNumber: question.phone,
      SendDate: day.replaceAll('-', ''),
      PageSize: String(pageSize),
      CurrentPage: String(number),
    }
    if (question.gatewayId !== undefined) fields['BizId'] = question.gatewayId
    const result = await call('QuerySendDetails', fields, signal)
    if (result.kind !== 'answer' || result.status !== 200) return undefined
    const body = parseJsonObject(result.body)
    if (body?.['Code'] !== 'OK') return undefined
    const details = isRecord(body['SmsSendDetailDTOs']) ? body['SmsSendDetailDTOs']['SmsSendDetailDTO'] : []
    return Array.isArray(details) ? details.filter(isRecord) : []
  }

  return {
    name: 'aliyun',
    async send(message, signal) {
      const fields: Record<string, string> = {
        PhoneNumbers: message.phone,
        SignName: message.signName,
        TemplateCode: message.templateId,
        OutId: message.bizId,
      }
      if (message.variables.length > 0) {
        fields['TemplateParam'] = JSON.stringify(
          Object.fromEntries(message.variables.map(({ name, value }) => [name, value])),
        )
      }
      return readAnswer(await call('SendSms', fields, signal))
    },

    async ask(question, signal) {
      const fates: Fate[] = []
      for (const day of daysAround(question.sentAt)) {
        for (let number = 1; number <= mostPages; number++) {
          const details = await page(question, day, number, signal)
          if (details === undefined) return undefined
          fates.push(
            ...details.map((detail) => fateOf(detail, question)).filter((fate) => fate !== undefined),
          )
          if (details.length < pageSize) break
        }
      }
      return fates
    },

    async probe(signal) {
      const day = formatDay(Date.now()).replaceAll('-', '')
      const fields = { PhoneNumber: probePhone, SendDate: day, PageSize: '1', CurrentPage: '1' }
      const result = await call('QuerySendDetails', fields, signal)
      if (result.kind !== 'answer') return { ok: false, detail: result.reason }
      const code = textOf(parseJsonObject(result.body)?.['Code']) ?? `http_${result.status}`
      return { ok: result.status === 200 && code === 'OK', detail: code }
    },
  }
}

function readAnswer(result: HttpResult): Outcome<Sent> {
  if (result.kind !== 'answer') return result
  // A server error says nothing about how far it got, whatever its body claims.
  if (result.status >= 500) return { kind: 'ambiguous', reason: `http_${result.status}` }
  const body = parseJsonObject(result.body)
  const code = body?.['Code']
  if (typeof code !== 'string') return { kind: 'ambiguous', reason: 'no_code' }
  if (result.status === 200 && code === 'OK') {
    return { kind: 'accepted', value: { gatewayId: textOf(body?.['BizId']) } }
  }
  const meaning = aliyunCodes.get(code)
  if (meaning === undefined) return { kind: 'ambiguous', reason: 'unlisted_code' }
  if (typeof meaning === 'object') return { kind: 'refused', code, reason: meaning.refused }
  switch (meaning) {
    case 'throttled_recipient':
      return { kind: 'throttled', concerns: 'recipient', reason: code }
    case 'not_here':
      return { kind: 'not_sent', reason: code, onlyThisMessage: true }
    case 'not_sent':
      return { kind: 'not_sent', reason: code }
    case 'ambiguous':
      return { kind: 'ambiguous', reason: code }
  }
}

/** The vendor files messages by its own day: around midnight in Shanghai that may be the day before or after ours. */
function daysAround(at: number): string[] {
  const slackMs = 120_000
  return [...new Set([formatDay(at), formatDay(at - slackMs), formatDay(at + slackMs)])]
}

const fateStates: ReadonlyMap<string, Fate['state']> = new Map([
  ['1', 'accepted'],
  ['2', 'undelivered'],
  ['3', 'delivered'],
])

function fateOf(detail: Readonly<Record<string, unknown>>, question: Question): Fate | undefined {
  const state = fateStates.get(String(detail['SendStatus']))
  if (state === undefined) return undefined
  return {
    // Every message of ours carries one; an absent OutId is somebody else's message.
    bizId: textOf(detail['OutId']) ?? '',
    gatewayId: question.gatewayId,
    phone: question.phone,
    state,
    code: codeOf(detail['ErrCode']),
  }
}

/** The SmsReport push: an array, many at a time, repeated until it hears a number as `code`. */
export const aliyunReceipts: ReceiptForm = {
  read: ({ body }) =>
    readEach(parseArray(body), (item) => {
      const phone = textOf(item['phone_number'])
      const delivered = item['success']
      if (phone === undefined || typeof delivered !== 'boolean') return undefined
      return {
        bizId: textOf(item['out_id']),
        gatewayId: textOf(item['biz_id']),
        phone,
        state: delivered ? 'delivered' : 'undelivered',
        code: codeOf(item['err_code']),
      }
    }),
  received: { code: 0, msg: '接收成功' },
  refused: { code: 1, msg: '格式有误' },
}
