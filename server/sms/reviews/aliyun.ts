// Reviews at Aliyun (Dysmsapi 2017-05-25): CreateSmsSign, GetSmsSign, CreateSmsTemplate, GetSmsTemplate.
import type { SignatureType, TemplateType } from '../../../contract/sms-text.ts'
import { type HttpResult, httpCall } from '../../upstream/http-call.ts'
import { idText, type JsonObject, parseJsonObject, valueAt } from '../../upstream/json.ts'
import { aliyunRequest } from '../../upstream/signing/aliyun.ts'
import type { AliyunSmsOptions } from '../gateways/aliyun.ts'
import { type Submitted, type VendorReviews, type VendorState, vendorText } from './port.ts'

export interface AliyunReviewOptions extends AliyunSmsOptions {
  /** The vendor's id of the operator's approved qualification; signatures need it. */
  readonly qualificationId: string | undefined
}

/** The vendor no longer takes signatures of websites. */
const signSources: Readonly<Partial<Record<SignatureType, string>>> = {
  company: '0',
  trademark: '5',
  app: '2',
}
const templateTypes: Readonly<Record<TemplateType, string>> = {
  verification: '0',
  notification: '1',
  marketing: '2',
}

export function createAliyunReviews(options: AliyunReviewOptions): VendorReviews {
  function call(action: string, fields: Readonly<Record<string, string>>, signal?: AbortSignal) {
    const { key, endpoint, timeoutMs } = options
    const request = aliyunRequest({ key, endpoint, action, version: '2017-05-25', fields, fieldsIn: 'query' })
    return httpCall(request, { timeoutMs, signal })
  }

  return {
    name: 'aliyun',
    async submitSignature({ signName, type, note }) {
      const source = signSources[type]
      if (source === undefined) return { kind: 'refused', reason: 'unsupported_type' }
      if (options.qualificationId === undefined) return { kind: 'refused', reason: 'no_qualification' }
      const fields = {
        SignName: signName,
        SignSource: source,
        SignType: '1',
        ThirdParty: 'false',
        QualificationId: options.qualificationId,
        ...(note !== '' && { Remark: note }),
      }
      // The name is what the vendor finds a signature by.
      return readSubmitted(await call('CreateSmsSign', fields), () => signName)
    },
    async submitTemplate({ name, type, content, variables, signName }) {
      const rule = type === 'verification' ? 'numberCaptcha' : 'others'
      const fields = {
        TemplateName: name.slice(0, 30),
        TemplateType: templateTypes[type],
        TemplateContent: content,
        RelatedSignName: signName,
        Remark: name,
        ...(variables.length > 0 && {
          TemplateRule: JSON.stringify(Object.fromEntries(variables.map((variable) => [variable, rule]))),
        }),
      }
      return readSubmitted(await call('CreateSmsTemplate', fields), (body) => idText(body['TemplateCode']))
    },
    async querySignature(vendorId, signal) {
      return readState(await call('GetSmsSign', { SignName: vendorId }, signal), 'SignStatus')
    },
    async queryTemplate(vendorId, signal) {
      return readState(await call('GetSmsTemplate', { TemplateCode: vendorId }, signal), 'TemplateStatus')
    },
  }
}

const limited = new Set(['Throttling', 'Throttling.User', 'isv.BUSINESS_LIMIT_CONTROL'])

function readSubmitted(result: HttpResult, vendorIdOf: (body: JsonObject) => string | undefined): Submitted {
  if (result.kind === 'not_sent') return { kind: 'later', reason: result.reason }
  if (result.kind === 'ambiguous') return { kind: 'unknown', reason: result.reason }
  const body = parseJsonObject(result.body)
  const code = idText(body?.['Code'])
  if (result.status >= 500 || !body || code === undefined)
    return { kind: 'unknown', reason: `http_${result.status}` }
  if (result.status === 200 && code === 'OK') {
    const vendorId = vendorIdOf(body)
    return vendorId === undefined ? { kind: 'unknown', reason: 'no_id' } : { kind: 'submitted', vendorId }
  }
  return { kind: limited.has(code) ? 'later' : 'refused', reason: vendorText(code, body['Message']) }
}

const states: ReadonlyMap<string, VendorState['state']> = new Map([
  ['0', 'reviewing'],
  ['1', 'approved'],
  ['2', 'refused'],
  ['10', 'refused'],
])

/** One of the two states is a number, the other one a text. */
function readState(result: HttpResult, field: string): VendorState | undefined {
  if (result.kind !== 'response' || result.status !== 200) return undefined
  const body = parseJsonObject(result.body)
  if (body?.['Code'] !== 'OK') return undefined
  const state = states.get(String(body[field]))
  return state && { state, reason: vendorText(valueAt(body, 'AuditInfo.RejectInfo')) }
}
