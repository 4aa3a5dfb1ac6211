// Tencent FaceID, IdCardVerification 2018-03-01: `Result` is the verdict, `Error` a failed call.
import { httpCall } from '../../upstream/http-call.ts'
import { codeText, valueAt } from '../../upstream/json.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import { type TencentKey, tencentRequest } from '../../upstream/signing/tencent.ts'
import type { IdentityGateway, VerificationResult } from '../port.ts'
import { acceptVerdict, loggableCode, readResponse, refusePerson, refuseUnlisted } from './verdicts.ts'

/** The vendor's rules forbid trying another provider after -2, -3, -5 and -7. */
const results: ReadonlyMap<string, Outcome<VerificationResult>> = new Map<
  string,
  Outcome<VerificationResult>
>([
  ['0', acceptVerdict('match')],
  ['-1', acceptVerdict('mismatch')],
  ['-2', refusePerson('tencent_-2_illegal_number')],
  ['-3', refusePerson('tencent_-3_illegal_name')],
  ['-4', { kind: 'not_sent', reason: 'tencent_-4_source_failed' }],
  ['-5', acceptVerdict('no_record')],
  ['-6', { kind: 'not_sent', reason: 'tencent_-6_source_upgrading' }],
  ['-7', { kind: 'throttled', concerns: 'recipient', reason: 'tencent_-7_daily_tries' }],
])

export interface TencentIdentityOptions {
  readonly endpoint: string
  readonly key: TencentKey
  readonly timeoutMs: number
}

export function createTencentGateway(options: TencentIdentityOptions): IdentityGateway {
  return {
    name: 'tencent',
    async verify(person, signal) {
      const request = tencentRequest({
        key: options.key,
        endpoint: options.endpoint,
        service: 'faceid',
        action: 'IdCardVerification',
        version: '2018-03-01',
        fields: { IdCard: person.number, Name: person.name },
      })
      const read = readResponse(await httpCall(request, { timeoutMs: options.timeoutMs, signal }))
      if (read.response === undefined) return read.failure
      // Failed calls have status 200 as well. Another status does not come from the API.
      if (read.response.status !== 200) return { kind: 'ambiguous', reason: `http_${read.response.status}` }
      if (valueAt(read.json, 'Response.Error') !== undefined) {
        return outcomeOfError(codeText(valueAt(read.json, 'Response.Error.Code')))
      }
      const result = codeText(valueAt(read.json, 'Response.Result'))
      return results.get(result ?? '') ?? refuseUnlisted(result)
    },
  }
}

/** Only the first part counts: the vendor adds sub-codes without notice. */
function outcomeOfError(code: string | undefined): Outcome<VerificationResult> {
  const reason = `tencent:${loggableCode(code)}`
  switch (code?.split('.')[0]) {
    case 'AuthFailure':
    case 'UnauthorizedOperation':
    case 'ResourceUnavailable':
      return { kind: 'not_sent', reason }
    case 'RequestLimitExceeded':
    case 'LimitExceeded':
      return { kind: 'throttled', concerns: 'us', reason }
    case 'InvalidParameter':
    case 'InvalidParameterValue':
      return { kind: 'not_sent', reason, onlyThisRequest: true }
    default:
      return { kind: 'ambiguous', reason }
  }
}
