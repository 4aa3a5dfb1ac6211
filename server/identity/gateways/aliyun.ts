// Aliyun cloudauth, Id2MetaVerify 2019-03-07: a signed form, `Code` for the call and `BizCode` for the verdict.
import { type HttpLimits, httpCall } from '../../upstream/http-call.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import { type AliyunKey, aliyunRequest } from '../../upstream/signing/aliyun.ts'
import type { Finding, IdentityGateway, Verdict } from '../port.ts'
import { at, codeOf, found, readAnswer, unlisted } from './reading.ts'

const verdicts: ReadonlyMap<string, Verdict> = new Map([
  ['1', 'match'],
  ['2', 'mismatch'],
  ['3', 'no_record'],
])

/** Every `Code` but 200. None of them comes with a verdict. */
const failures: ReadonlyMap<string, Outcome<Finding>> = new Map<string, Outcome<Finding>>([
  ['400', { kind: 'not_sent', reason: 'aliyun_400_missing_parameter' }],
  // This name or number breaks a format of theirs; a residence permit, say, that others know.
  ['401', { kind: 'not_sent', reason: 'aliyun_401_illegal_parameter', onlyThisMessage: true }],
  ['402', { kind: 'not_sent', reason: 'aliyun_402_source_failed' }],
  ['403', { kind: 'not_sent', reason: 'aliyun_403_repeated_calls', onlyThisMessage: true }],
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

export interface AliyunOptions {
  readonly endpoint: string
  readonly key: AliyunKey
  readonly timeoutMs: number
}

export function aliyunGateway(options: AliyunOptions): IdentityGateway {
  return {
    name: 'aliyun',
    async ask(person, signal) {
      const request = aliyunRequest({
        key: options.key,
        endpoint: options.endpoint,
        action: 'Id2MetaVerify',
        version: '2019-03-07',
        fields: { ParamType: 'normal', IdentifyNum: person.number, UserName: person.name },
        fieldsIn: 'form',
      })
      const limits: HttpLimits = { timeoutMs: options.timeoutMs, signal }
      const read = readAnswer(await httpCall(request, limits))
      if (read.answer === undefined) return read.failure
      // The gateway in front of the API refuses with a status of its own and the same `Code`.
      const code = codeOf(read.json['Code'])
      if (code !== '200') return failures.get(code ?? '') ?? unlisted(code)
      if (read.answer.status !== 200) return { kind: 'ambiguous', reason: `http_${read.answer.status}` }
      const bizCode = codeOf(at(read.json, 'ResultObject.BizCode'))
      const verdict = verdicts.get(bizCode ?? '')
      return verdict === undefined ? unlisted(bizCode) : found(verdict)
    },
  }
}
