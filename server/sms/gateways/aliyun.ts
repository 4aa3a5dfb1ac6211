// Aliyun SMS (Dysmsapi 2017-05-25): SendSms, QuerySendDetails and the pushes SmsReport and SmsUp.
import { formatDay } from '../../../contract/time.ts'
import { isRecord } from '../../../contract/values.ts'
import { type HttpResult, httpCall } from '../../upstream/http-call.ts'
import { idText, type JsonObject, parseJsonObject, storableCode, valueAt } from '../../upstream/json.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import { type AliyunKey, aliyunRequest } from '../../upstream/signing/aliyun.ts'
import { type CodeMeaning, outcomeOfCode } from '../../upstream/vendor-codes.ts'
import type {
  DeliveryStatus,
  ReceiptFormat,
  RefusalReason,
  SentMessage,
  SmsGateway,
  StatusQuery,
} from '../port.ts'
import { parseItems, readReply } from './receipts.ts'

export interface AliyunSmsOptions {
  readonly key: AliyunKey
  readonly endpoint: string
  readonly timeoutMs: number
}

const version = '2017-05-25'

/** The vendor's sample number. Querying its history needs valid credentials and sends nothing. */
const probePhone = '13800138000'

const pageSize = 50
const maxPages = 10

/** Every code that the vendor documents. All others are ambiguous. */
export const aliyunCodes: ReadonlyMap<string, CodeMeaning<RefusalReason>> = new Map<
  string,
  CodeMeaning<RefusalReason>
>([
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
  // The next gateway has other templates and signatures.
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
  // Our nonces are 128 random bits, so a used one means that a proxy sent our request twice, and the first may have
  // been accepted.
  ['SignatureNonceUsed', 'ambiguous'],
  ['Throttling', 'throttled_us'],
  ['Throttling.User', 'throttled_us'],
  ['isp.SYSTEM_ERROR', 'ambiguous'],
  ['isp.GATEWAY_ERROR', 'ambiguous'],
  ['isp.UNKNOWN_ERROR', 'ambiguous'],
  ['InternalError', 'ambiguous'],
])

export function createAliyunGateway(options: AliyunSmsOptions): SmsGateway {
  function call(
    action: string,
    fields: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<HttpResult> {
    const { key, endpoint, timeoutMs } = options
    const request = aliyunRequest({ key, endpoint, action, version, fields, fieldsIn: 'query' })
    return httpCall(request, { timeoutMs, signal })
  }

  /** One page of a phone number's history on one day; undefined when the query failed. */
  async function queryPage(query: StatusQuery, day: string, page: number, signal?: AbortSignal) {
    const fields: Record<string, string> = {
      PhoneNumber: query.phone,
      SendDate: day.replaceAll('-', ''),
      PageSize: String(pageSize),
      CurrentPage: String(page),
    }
    if (query.gatewayId !== undefined) fields['BizId'] = query.gatewayId
    const result = await call('QuerySendDetails', fields, signal)
    if (result.kind !== 'response' || result.status !== 200) return undefined
    const body = parseJsonObject(result.body)
    if (body?.['Code'] !== 'OK') return undefined
    const details = valueAt(body, 'SmsSendDetailDTOs.SmsSendDetailDTO')
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
      return readSendResponse(await call('SendSms', fields, signal))
    },

    async queryStatus(query, signal) {
      const statuses: DeliveryStatus[] = []
      for (const day of daysAround(query.sentAt)) {
        for (let page = 1; page <= maxPages; page++) {
          const details = await queryPage(query, day, page, signal)
          if (details === undefined) return undefined
          statuses.push(...details.flatMap((detail) => readStatus(detail, query)))
          if (details.length < pageSize) break
        }
      }
      return statuses
    },

    async probe(signal) {
      const day = formatDay(Date.now()).replaceAll('-', '')
      const fields = { PhoneNumber: probePhone, SendDate: day, PageSize: '1', CurrentPage: '1' }
      const result = await call('QuerySendDetails', fields, signal)
      if (result.kind !== 'response') return { ok: false, detail: result.reason }
      const code = idText(parseJsonObject(result.body)?.['Code']) ?? `http_${result.status}`
      return { ok: result.status === 200 && code === 'OK', detail: code }
    },
  }
}

function readSendResponse(result: HttpResult): Outcome<SentMessage> {
  if (result.kind !== 'response') return result
  // After a server error the body proves nothing.
  if (result.status >= 500) return { kind: 'ambiguous', reason: `http_${result.status}` }
  const body = parseJsonObject(result.body)
  if (result.status === 200 && body?.['Code'] === 'OK') {
    return { kind: 'accepted', value: { gatewayId: idText(body['BizId']) } }
  }
  return outcomeOfCode(body?.['Code'], aliyunCodes)
}

/** The vendor stores messages by its clock: around midnight in Shanghai that may be the day before or after ours. */
function daysAround(at: number): string[] {
  const slackMs = 120_000
  return [...new Set([formatDay(at), formatDay(at - slackMs), formatDay(at + slackMs)])]
}

const states: ReadonlyMap<string, DeliveryStatus['state']> = new Map([
  ['1', 'accepted'],
  ['2', 'undelivered'],
  ['3', 'delivered'],
])

function readStatus(detail: JsonObject, query: StatusQuery): DeliveryStatus[] {
  const state = states.get(String(detail['SendStatus']))
  if (state === undefined) return []
  return [
    {
      // Every message of ours has an OutId; without one the message is not ours.
      bizId: idText(detail['OutId']) ?? '',
      gatewayId: query.gatewayId,
      phone: query.phone,
      state,
      code: storableCode(detail['ErrCode']),
    },
  ]
}

/** The pushes SmsReport and SmsUp: an array of receipts or replies, repeated until the response has a numeric `code`. */
export const aliyunReceipts: ReceiptFormat = {
  parse: ({ json }) =>
    parseItems(json(), {
      receipt(item) {
        const phone = idText(item['phone_number'])
        const delivered = item['success']
        if (phone === undefined || typeof delivered !== 'boolean') return undefined
        return {
          bizId: idText(item['out_id']),
          gatewayId: idText(item['biz_id']),
          phone,
          state: delivered ? 'delivered' : 'undelivered',
          code: storableCode(item['err_code']),
        }
      },
      reply: (item) =>
        readReply({
          phone: item['phone_number'],
          content: item['content'],
          signName: item['sign_name'],
          id: item['sequence_id'],
          facts: [item['send_time'], item['dest_code']],
        }),
    }),
  successBody: { code: 0, msg: '接收成功' },
  errorBody: { code: 1, msg: '格式有误' },
}
