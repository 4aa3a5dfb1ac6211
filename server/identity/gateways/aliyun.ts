// Aliyun cloudauth, Id2MetaVerify 2019-03-07: `Code` is the result of the call, `BizCode` the verdict.
import { httpCall } from '../../upstream/http-call.ts'
import { codeText, valueAt } from '../../upstream/json.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import { type AliyunKey, aliyunRequest } from '../../upstream/signing/aliyun.ts'
import type { IdentityGateway, Verdict, VerificationResult } from '../port.ts'
import { acceptVerdict, readResponse, refuseUnlisted } from './verdicts.ts'

const verdicts: ReadonlyMap<string, Verdict> = new Map([
  ['1', 'match'],
  ['2', 'mismatch'],
  ['3', 'no_record'],
])

/** Every `Code` except 200. None of them has a verdict. */
const failures: ReadonlyMap<string, Outcome<VerificationResult>> = new Map<
  string,
  Outcome<VerificationResult>
>([
  ['400', { kind: 'not_sent', reason: 'aliyun_400_missing_parameter' }],
  // The vendor does not accept this name or number, a residence permit for example; others may.
  ['401', { kind: 'not_sent', reason: 'aliyun_401_illegal_parameter', onlyThisRequest: true }],
  ['402', { kind: 'not_sent', reason: 'aliyun_402_source_failed' }],
  ['403', { kind: 'not_sent', reason: 'aliyun_403_repeated_calls', onlyThisRequest: true }],
  ['410', { kind: 'not_sent', reason: 'aliyun_410_not_activated' }],
  ['411', { kind: 'not_sent', reason: 'aliyun_411_permission' }],
  ['412', { kind: 'not_sent', reason: 'aliyun_412_arrears' }],
  ['500', { kind: 'ambiguous', reason: 'aliyun_500_internal' }],
  ['Throttling', { kind: 'throttled', concerns: 'us', reason: 'Throttling' }],
  ['Throttling.User', { kind: 'throttled', concerns: 'us', reason: 'Throttling.User' }],
  ['SignatureDoesNotMatch', { kind: 'not_sent', reason: 'SignatureDoesNotMatch' }],
  ['SignatureNonceUsed', { kind: 'not_sent', reason: 'SignatureNonceUsed' }],
  ['InvalidAccessKeyId.NotFound', { kind: 'not_sent', reason: 'InvalidAccessKeyId.NotFound' }],
  ['InvalidTimeStamp.Expired', { kind: 'not_sent', reason: 'InvalidTimeStamp.Expired' }],
  ['Forbidden.RAM', { kind: 'not_sent', reason: 'Forbidden.RAM' }],
])

export interface AliyunIdentityOptions {
  readonly endpoint: string
  readonly key: AliyunKey
  readonly timeoutMs: number
}

export function createAliyunGateway(options: AliyunIdentityOptions): IdentityGateway {
  return {
    name: 'aliyun',
    async verify(person, signal) {
      const request = aliyunRequest({
        key: options.key,
        endpoint: options.endpoint,
        action: 'Id2MetaVerify',
        version: '2019-03-07',
        fields: { ParamType: 'normal', IdentifyNum: person.number, UserName: person.name },
        fieldsIn: 'form',
      })
      const read = readResponse(await httpCall(request, { timeoutMs: options.timeoutMs, signal }))
      if (read.response === undefined) return read.failure
      // Aliyun's API gateway uses other HTTP statuses with the same `Code` field.
      const code = codeText(read.json['Code'])
      if (code !== '200') return failures.get(code ?? '') ?? refuseUnlisted(code)
      if (read.response.status !== 200) return { kind: 'ambiguous', reason: `http_${read.response.status}` }
      const bizCode = codeText(valueAt(read.json, 'ResultObject.BizCode'))
      const verdict = verdicts.get(bizCode ?? '')
      return verdict === undefined ? refuseUnlisted(bizCode) : acceptVerdict(verdict)
    },
  }
}
