// Tencent Cloud SMS (2021-01-11): SendSms, PullSmsSendStatusByPhoneNumber and the pushes of statuses and replies.
import { dayMs, hourMs } from '../../../contract/time.ts'
import { isRecord } from '../../../contract/values.ts'
import { type HttpResult, httpCall } from '../../upstream/http-call.ts'
import { idText, type JsonObject, parseJsonObject, storableCode } from '../../upstream/json.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import { tencentRequest, type TencentKey } from '../../upstream/signing/tencent.ts'
import { type CodeMeaning, outcomeOfCode } from '../../upstream/vendor-codes.ts'
import type {
  DeliveryStatus,
  IncomingReply,
  ReceiptFormat,
  RefusalReason,
  SentMessage,
  SmsGateway,
} from '../port.ts'
import { parseItems, readReply } from './receipts.ts'

export interface TencentSmsOptions {
  readonly key: TencentKey
  readonly endpoint: string
  readonly region: string
  readonly appId: string
  readonly timeoutMs: number
}

const version = '2021-01-11'

/** Querying the history of this number needs valid credentials and sends nothing. */
const probePhone = '13800138000'

/** The vendor keeps its history this long. */
const historyMs = 7 * dayMs

/** Every code that the vendor documents. All others are ambiguous. */
export const tencentCodes: ReadonlyMap<string, CodeMeaning<RefusalReason>> = new Map<
  string,
  CodeMeaning<RefusalReason>
>([
  ['InvalidParameterValue.IncorrectPhoneNumber', { refused: 'number' }],
  ['MissingParameter.EmptyPhoneNumberSet', { refused: 'number' }],
  ['UnsupportedOperation.ContainDomesticAndInternationalPhoneNumber', { refused: 'number' }],
  ['InvalidParameterValue.ContentLengthLimit', { refused: 'content' }],
  ['InvalidParameterValue.TemplateParameterFormatError', { refused: 'content' }],
  ['InvalidParameterValue.TemplateParameterLengthLimit', { refused: 'content' }],
  ['InvalidParameterValue.ProhibitedUseUrlInTemplateParameter', { refused: 'content' }],
  ['FailedOperation.ContainSensitiveWord', { refused: 'content' }],
  ['FailedOperation.TemplateParamSetNotMatchApprovedTemplate', { refused: 'content' }],
  // The next gateway has other templates and signatures.
  ['FailedOperation.TemplateIncorrectOrUnapproved', 'not_here'],
  ['FailedOperation.TemplateUnapprovedOrNotExist', 'not_here'],
  ['FailedOperation.SignatureIncorrectOrUnapproved', 'not_here'],
  ['FailedOperation.PhoneNumberInBlacklist', { refused: 'blocked' }],
  ['LimitExceeded.PhoneNumberThirtySecondLimit', 'throttled_recipient'],
  ['LimitExceeded.PhoneNumberOneHourLimit', 'throttled_recipient'],
  ['LimitExceeded.PhoneNumberDailyLimit', 'throttled_recipient'],
  ['LimitExceeded.PhoneNumberSameContentDailyLimit', 'throttled_recipient'],
  ['LimitExceeded.DeliveryFrequencyLimit', 'throttled_recipient'],
  ['FailedOperation.MarketingSendTimeConstraint', { refused: 'hours' }],
  ['LimitExceeded.AppDailyLimit', 'not_sent'],
  ['LimitExceeded.AppMainlandChinaDailyLimit', 'not_sent'],
  ['LimitExceeded.PhoneNumberCountLimit', 'not_sent'],
  ['FailedOperation.InsufficientBalanceInSmsPackage', 'not_sent'],
  ['UnauthorizedOperation.ServiceSuspendDueToArrears', 'not_sent'],
  // The spelling of older versions of the API.
  ['UnauthorizedOperation.SerivceSuspendDueToArrears', 'not_sent'],
  ['UnauthorizedOperation.SmsSdkAppIdVerifyFail', 'not_sent'],
  ['UnauthorizedOperation.RequestIpNotInWhitelist', 'not_sent'],
  ['UnauthorizedOperation.SdkAppIdIsDisabled', 'not_sent'],
  ['AuthFailure.*', 'not_sent'],
  ['InternalError.SigVerificationFail', 'not_sent'],
  ['InternalError.RequestTimeException', 'not_sent'],
  ['RequestLimitExceeded', 'throttled_us'],
  ['RequestLimitExceeded.*', 'throttled_us'],
  ['InternalError.Timeout', 'ambiguous'],
  ['InternalError.SendAndRecvFail', 'ambiguous'],
  ['InternalError.OtherError', 'ambiguous'],
])

export function createTencentGateway(options: TencentSmsOptions): SmsGateway {
  function call(action: string, fields: JsonObject, signal: AbortSignal | undefined): Promise<HttpResult> {
    const { key, endpoint, region, timeoutMs } = options
    const request = tencentRequest({ key, endpoint, service: 'sms', action, version, region, fields })
    return httpCall(request, { timeoutMs, signal })
  }

  function pullStatus(phone: string, since: number, signal: AbortSignal | undefined): Promise<HttpResult> {
    const fields = {
      BeginTime: Math.floor(since / 1000),
      Offset: 0,
      Limit: 100,
      PhoneNumber: `+86${phone}`,
      SmsSdkAppId: options.appId,
    }
    return call('PullSmsSendStatusByPhoneNumber', fields, signal)
  }

  return {
    name: 'tencent',
    async send(message, signal) {
      const fields: Record<string, unknown> = {
        PhoneNumberSet: [`+86${message.phone}`],
        SmsSdkAppId: options.appId,
        TemplateId: message.templateId,
        SignName: message.signName,
        SessionContext: message.bizId,
      }
      if (message.variables.length > 0) {
        fields['TemplateParamSet'] = message.variables.map(({ value }) => value)
      }
      return readSendResponse(await call('SendSms', fields, signal))
    },

    async queryStatus(query, signal) {
      const since = Math.max(query.sentAt - 5_000, Date.now() - historyMs)
      const response = readTencentResponse(await pullStatus(query.phone, since, signal))
      const set = response?.['PullSmsSendStatusSet']
      if (response?.['Error'] !== undefined || !Array.isArray(set)) return undefined
      return set.filter(isRecord).flatMap((item) => readStatus(item, query.phone))
    },

    async probe(signal) {
      const result = await pullStatus(probePhone, Date.now() - hourMs, signal)
      if (result.kind !== 'response') return { ok: false, detail: result.reason }
      const response = readTencentResponse(result)
      if (!response) return { ok: false, detail: `http_${result.status}` }
      const error = response['Error']
      if (isRecord(error)) return { ok: false, detail: idText(error['Code']) ?? 'no_code' }
      const ok = Array.isArray(response['PullSmsSendStatusSet'])
      return { ok, detail: ok ? 'Ok' : 'no_status_set' }
    },
  }
}

/** The object that every response of the vendor has its content in. */
export function readTencentResponse(result: HttpResult): JsonObject | undefined {
  if (result.kind !== 'response' || result.status !== 200) return undefined
  const response = parseJsonObject(result.body)?.['Response']
  return isRecord(response) ? response : undefined
}

function readSendResponse(result: HttpResult): Outcome<SentMessage> {
  if (result.kind !== 'response') return result
  if (result.status !== 200) return { kind: 'ambiguous', reason: `http_${result.status}` }
  const response = readTencentResponse(result)
  const error = response?.['Error']
  if (error !== undefined) return outcomeOfCode(isRecord(error) ? error['Code'] : undefined, tencentCodes)
  const set = response?.['SendStatusSet']
  // The request had one phone number: any other number of items does not answer it.
  const item: unknown = Array.isArray(set) && set.length === 1 ? set[0] : undefined
  if (!isRecord(item)) return { kind: 'ambiguous', reason: 'no_status' }
  if (item['Code'] === 'Ok') return { kind: 'accepted', value: { gatewayId: idText(item['SerialNo']) } }
  return outcomeOfCode(item['Code'], tencentCodes)
}

const states: ReadonlyMap<unknown, DeliveryStatus['state']> = new Map([
  ['SUCCESS', 'delivered'],
  ['FAIL', 'undelivered'],
])

function readStatus(item: JsonObject, phone: string): DeliveryStatus[] {
  const state = states.get(item['ReportStatus'])
  const gatewayId = idText(item['SerialNo'])
  if (state === undefined || gatewayId === undefined) return []
  // The vendor returns SessionContext only to accounts for which it enabled it. The pull has no carrier code, and the
  // description is free text.
  const bizId = idText(item['SessionContext'])
  return [{ bizId, gatewayId, phone, state, code: state === 'undelivered' ? 'FAIL' : '' }]
}

/** The status push is an array of receipts, `sid` is the SerialNo of the send. The reply push is one object without an id. */
export const tencentReceipts: ReceiptFormat = {
  parse({ json }) {
    const push = json()
    const receipt = Array.isArray(push) ? readReceipt : () => undefined
    return parseItems(Array.isArray(push) ? push : [push], { receipt, reply: readPushedReply })
  },
  successBody: { result: 0, errmsg: 'OK' },
  errorBody: { result: 1, errmsg: 'malformed' },
}

function readReceipt(item: JsonObject): DeliveryStatus | undefined {
  const phone = idText(item['mobile'])
  const state = states.get(item['report_status'])
  const gatewayId = idText(item['sid'])
  if (phone === undefined || state === undefined || gatewayId === undefined) return undefined
  return { bizId: undefined, gatewayId, phone, state, code: storableCode(item['errmsg']) }
}

function readPushedReply(item: JsonObject): IncomingReply | undefined {
  return readReply({
    phone: item['mobile'],
    content: item['text'],
    signName: item['sign'],
    id: undefined,
    facts: [item['nationcode'], item['time'], item['extend']],
  })
}
