// Tencent Cloud SMS (2021-01-11): SendSms, PullSmsSendStatusByPhoneNumber and the status push.
import { type HttpResult, httpCall, parseJsonObject } from '../../upstream/http-call.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import { tencentRequest, type TencentKey } from '../../upstream/signing/tencent.ts'
import type { Fate, ReceiptForm, RefusalReason, Sent, SmsGateway } from '../port.ts'
import { isRecord } from '../../../contract/values.ts'
import { codeOf, parseArray, readEach, textOf } from './json.ts'

export interface TencentOptions {
  readonly key: TencentKey
  readonly endpoint: string
  readonly region: string
  readonly appId: string
  readonly timeoutMs: number
}

const version = '2021-01-11'

/** Reading the history of this number needs right credentials and sends nothing. */
const probePhone = '13800138000'

/** How far the vendor's history reaches back. */
const historyMs = 7 * 86_400_000

type Meaning =
  | { readonly refused: RefusalReason }
  | 'throttled_recipient'
  | 'not_here'
  | 'not_sent'
  | 'ambiguous'

/** Every code the vendor documents; a `*` at the end stands for all sub-codes. What is not here is ambiguous. */
export const tencentCodes: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['InvalidParameterValue.IncorrectPhoneNumber', { refused: 'number' }],
  ['MissingParameter.EmptyPhoneNumberSet', { refused: 'number' }],
  ['UnsupportedOperation.ContainDomesticAndInternationalPhoneNumber', { refused: 'number' }],
  ['InvalidParameterValue.ContentLengthLimit', { refused: 'content' }],
  ['InvalidParameterValue.TemplateParameterFormatError', { refused: 'content' }],
  ['InvalidParameterValue.TemplateParameterLengthLimit', { refused: 'content' }],
  ['InvalidParameterValue.ProhibitedUseUrlInTemplateParameter', { refused: 'content' }],
  ['FailedOperation.ContainSensitiveWord', { refused: 'content' }],
  ['FailedOperation.TemplateParamSetNotMatchApprovedTemplate', { refused: 'content' }],
  // Approved elsewhere, perhaps: the next gateway has templates and signatures of its own.
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
  // As older versions of the interface spell it.
  ['UnauthorizedOperation.SerivceSuspendDueToArrears', 'not_sent'],
  ['UnauthorizedOperation.SmsSdkAppIdVerifyFail', 'not_sent'],
  ['UnauthorizedOperation.RequestIpNotInWhitelist', 'not_sent'],
  ['UnauthorizedOperation.SdkAppIdIsDisabled', 'not_sent'],
  ['AuthFailure.*', 'not_sent'],
  ['InternalError.SigVerificationFail', 'not_sent'],
  ['InternalError.RequestTimeException', 'not_sent'],
  ['RequestLimitExceeded', 'not_sent'],
  ['RequestLimitExceeded.*', 'not_sent'],
  ['InternalError.Timeout', 'ambiguous'],
  ['InternalError.SendAndRecvFail', 'ambiguous'],
  ['InternalError.OtherError', 'ambiguous'],
])

export function tencentGateway(options: TencentOptions): SmsGateway {
  function call(
    action: string,
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Promise<HttpResult> {
    const { key, endpoint, region, timeoutMs } = options
    return httpCall(tencentRequest({ key, endpoint, service: 'sms', action, version, region, fields }), {
      timeoutMs,
      signal,
    })
  }

  function pull(phone: string, since: number, signal: AbortSignal | undefined) {
    return call(
      'PullSmsSendStatusByPhoneNumber',
      {
        BeginTime: Math.floor(since / 1000),
        Offset: 0,
        Limit: 100,
        PhoneNumber: `+86${phone}`,
        SmsSdkAppId: options.appId,
      },
      signal,
    )
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
      return readAnswer(await call('SendSms', fields, signal))
    },

    async ask(question, signal) {
      const since = Math.max(question.sentAt - 5_000, Date.now() - historyMs)
      const response = responseOf(await pull(question.phone, since, signal))
      const set = response?.['PullSmsSendStatusSet']
      if (response?.['Error'] !== undefined || !Array.isArray(set)) return undefined
      return set.filter(isRecord).flatMap((item) => fateOf(item, question.phone))
    },

    async probe(signal) {
      const result = await pull(probePhone, Date.now() - 3_600_000, signal)
      if (result.kind !== 'answer') return { ok: false, detail: result.reason }
      const response = responseOf(result)
      if (!response) return { ok: false, detail: `http_${result.status}` }
      const error = response['Error']
      if (isRecord(error)) return { ok: false, detail: textOf(error['Code']) ?? 'no_code' }
      const ok = Array.isArray(response['PullSmsSendStatusSet'])
      return { ok, detail: ok ? 'Ok' : 'no_status_set' }
    },
  }
}

function responseOf(result: HttpResult): Readonly<Record<string, unknown>> | undefined {
  if (result.kind !== 'answer' || result.status !== 200) return undefined
  const response = parseJsonObject(result.body)?.['Response']
  return isRecord(response) ? response : undefined
}

function readAnswer(result: HttpResult): Outcome<Sent> {
  if (result.kind !== 'answer') return result
  if (result.status !== 200) return { kind: 'ambiguous', reason: `http_${result.status}` }
  const response = responseOf(result)
  const error = response?.['Error']
  if (error !== undefined) return meaningOf(isRecord(error) ? error['Code'] : undefined)
  const set = response?.['SendStatusSet']
  // One number was asked for: any other count is not an answer to our question.
  const item: unknown = Array.isArray(set) && set.length === 1 ? set[0] : undefined
  if (!isRecord(item)) return { kind: 'ambiguous', reason: 'no_status' }
  if (item['Code'] === 'Ok') return { kind: 'accepted', value: { gatewayId: textOf(item['SerialNo']) } }
  return meaningOf(item['Code'])
}

function meaningOf(code: unknown): Outcome<Sent> {
  if (typeof code !== 'string') return { kind: 'ambiguous', reason: 'no_code' }
  const meaning = tencentCodes.get(code) ?? tencentCodes.get(`${code.split('.')[0]}.*`)
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

const fateStates: ReadonlyMap<unknown, Fate['state']> = new Map([
  ['SUCCESS', 'delivered'],
  ['FAIL', 'undelivered'],
])

function fateOf(item: Readonly<Record<string, unknown>>, phone: string): Fate[] {
  const state = fateStates.get(item['ReportStatus'])
  const gatewayId = textOf(item['SerialNo'])
  if (state === undefined || gatewayId === undefined) return []
  return [
    {
      // Only accounts for which the vendor switched it on get the context back.
      bizId: textOf(item['SessionContext']),
      gatewayId,
      phone,
      state,
      // The description is free text; the push has the carrier's code, the pull has none.
      code: state === 'undelivered' ? 'FAIL' : '',
    },
  ]
}

/** The status push: an array; `sid` is the SerialNo of the send. */
export const tencentReceipts: ReceiptForm = {
  read: ({ body }) =>
    readEach(parseArray(body), (item) => {
      const phone = textOf(item['mobile'])
      const state = fateStates.get(item['report_status'])
      const gatewayId = textOf(item['sid'])
      if (phone === undefined || state === undefined || gatewayId === undefined) return undefined
      return { bizId: undefined, gatewayId, phone, state, code: codeOf(item['errmsg']) }
    }),
  received: { result: 0, errmsg: 'OK' },
  refused: { result: 1, errmsg: 'malformed' },
}
