// Reviews at Tencent Cloud (2021-01-11): AddSmsSign, DescribeSmsSignList, AddSmsTemplate, DescribeSmsTemplateList.
import type { SignatureType, TemplateType } from '../../../contract/sms-text.ts'
import { fillTemplate } from '../../../contract/sms-text.ts'
import { isRecord } from '../../../contract/values.ts'
import { type HttpResult, httpCall } from '../../upstream/http-call.ts'
import { idText, type JsonObject } from '../../upstream/json.ts'
import { tencentRequest } from '../../upstream/signing/tencent.ts'
import { readTencentResponse, type TencentSmsOptions } from '../gateways/tencent.ts'
import { type Submitted, type VendorReviews, type VendorState, vendorText } from './port.ts'

export interface TencentReviewOptions extends TencentSmsOptions {
  /** The vendor's id of the operator's approved qualification; signatures need it. */
  readonly qualificationId: string | undefined
}

/** The vendor takes apps only abroad, and websites no longer. */
const signTypes: Readonly<
  Partial<Record<SignatureType, { readonly sign: number; readonly document: number }>>
> = {
  company: { sign: 0, document: 0 },
  trademark: { sign: 4, document: 7 },
}
const smsTypes: Readonly<Record<TemplateType, number>> = { marketing: 1, notification: 2, verification: 3 }

export function createTencentReviews(options: TencentReviewOptions): VendorReviews {
  function call(action: string, fields: JsonObject, signal?: AbortSignal): Promise<HttpResult> {
    const { key, endpoint, region, timeoutMs } = options
    const version = '2021-01-11'
    const request = tencentRequest({ key, endpoint, service: 'sms', action, version, region, fields })
    return httpCall(request, { timeoutMs, signal })
  }

  return {
    name: 'tencent',
    async submitSignature({ signName, type, note, images }) {
      const types = signTypes[type]
      if (!types) return { kind: 'refused', reason: 'unsupported_type' }
      if (options.qualificationId === undefined) return { kind: 'refused', reason: 'no_qualification' }
      const [proof, commission] = images
      if (proof === undefined) return { kind: 'refused', reason: 'no_image' }
      const fields = {
        SignName: signName,
        SignType: types.sign,
        DocumentType: types.document,
        International: 0,
        // With a second image, a letter of authorization: the signature belongs to another company.
        SignPurpose: commission === undefined ? 0 : 1,
        ProofImage: proof,
        ...(commission !== undefined && { CommissionImage: commission }),
        QualificationId: Number(options.qualificationId),
        Remark: note,
      }
      return readSubmitted(await call('AddSmsSign', fields), 'AddSignStatus', 'SignId')
    },
    async submitTemplate({ name, type, content, variables }) {
      const numbers = new Map(variables.map((variable, index) => [variable, `{${index + 1}}`]))
      const fields = {
        TemplateName: name,
        TemplateContent: fillTemplate(content, numbers),
        SmsType: smsTypes[type],
        International: 0,
        Remark: name,
      }
      return readSubmitted(await call('AddSmsTemplate', fields), 'AddTemplateStatus', 'TemplateId')
    },
    async querySignature(vendorId, signal) {
      const result = await call(
        'DescribeSmsSignList',
        { International: 0, SignIdSet: [Number(vendorId)] },
        signal,
      )
      return readState(result, 'DescribeSignListStatusSet', 'SignId', vendorId)
    },
    async queryTemplate(vendorId, signal) {
      // Without a limit the vendor returns nothing.
      const fields = { International: 0, TemplateIdSet: [Number(vendorId)], Limit: 1, Offset: 0 }
      const result = await call('DescribeSmsTemplateList', fields, signal)
      return readState(result, 'DescribeTemplateStatusSet', 'TemplateId', vendorId)
    },
  }
}

function readSubmitted(result: HttpResult, name: string, id: string): Submitted {
  if (result.kind === 'not_sent') return { kind: 'later', reason: result.reason }
  if (result.kind === 'ambiguous') return { kind: 'unknown', reason: result.reason }
  const response = readTencentResponse(result)
  if (!response) return { kind: 'unknown', reason: `http_${result.status}` }
  const error = response['Error']
  if (isRecord(error)) {
    const code = idText(error['Code']) ?? ''
    if (code === '' || code.startsWith('InternalError')) return { kind: 'unknown', reason: vendorText(code) }
    const kind = code.startsWith('RequestLimitExceeded') ? 'later' : 'refused'
    return { kind, reason: vendorText(code, error['Message']) }
  }
  const status = response[name]
  const vendorId = isRecord(status) ? idText(status[id]) : undefined
  return vendorId === undefined ? { kind: 'unknown', reason: 'no_id' } : { kind: 'submitted', vendorId }
}

/** 2: approved, not live yet. */
const states: ReadonlyMap<string, VendorState['state']> = new Map([
  ['0', 'approved'],
  ['1', 'reviewing'],
  ['2', 'reviewing'],
  ['-1', 'refused'],
])

function readState(result: HttpResult, list: string, id: string, vendorId: string): VendorState | undefined {
  const items = readTencentResponse(result)?.[list]
  const item: unknown = Array.isArray(items)
    ? items.find((one) => isRecord(one) && idText(one[id]) === vendorId)
    : undefined
  if (!isRecord(item)) return undefined
  const state = states.get(String(item['StatusCode']))
  return state && { state, reason: state === 'refused' ? vendorText(item['ReviewReply']) : '' }
}
