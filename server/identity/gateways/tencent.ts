// Tencent FaceID, IdCardVerification 2018-03-01: signed JSON, the verdict in `Result`, failures of the call in `Error`.
import { httpCall } from '../../upstream/http-call.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import { type TencentKey, tencentRequest } from '../../upstream/signing/tencent.ts'
import type { Finding, IdentityGateway } from '../port.ts'
import { at, codeOf, found, loggable, readAnswer, refusedPerson, unlisted } from './reading.ts'

/** -2, -3, -5 and -7 must not be taken to another provider, by the vendor's rules; -4 and -6 may. */
const results: ReadonlyMap<string, Outcome<Finding>> = new Map<string, Outcome<Finding>>([
  ['0', found('match')],
  ['-1', found('mismatch')],
  ['-2', refusedPerson('tencent_-2_illegal_number')],
  ['-3', refusedPerson('tencent_-3_illegal_name')],
  ['-4', { kind: 'not_sent', reason: 'tencent_-4_source_failed' }],
  ['-5', found('no_record')],
  ['-6', { kind: 'not_sent', reason: 'tencent_-6_source_upgrading' }],
  ['-7', { kind: 'throttled', concerns: 'recipient', reason: 'tencent_-7_daily_tries' }],
])

export interface TencentOptions {
  readonly endpoint: string
  readonly key: TencentKey
  readonly timeoutMs: number
}

export function tencentGateway(options: TencentOptions): IdentityGateway {
  return {
    name: 'tencent',
    async ask(person, signal) {
      const request = tencentRequest({
        key: options.key,
        endpoint: options.endpoint,
        service: 'faceid',
        action: 'IdCardVerification',
        version: '2018-03-01',
        fields: { IdCard: person.number, Name: person.name },
      })
      const read = readAnswer(await httpCall(request, { timeoutMs: options.timeoutMs, signal }))
      if (read.answer === undefined) return read.failure
      // Failures of the call come with status 200 too; another status is nobody we know.
      if (read.answer.status !== 200) return { kind: 'ambiguous', reason: `http_${read.answer.status}` }
      if (at(read.json, 'Response.Error') !== undefined) {
        return callFailure(codeOf(at(read.json, 'Response.Error.Code')))
      }
      const result = codeOf(at(read.json, 'Response.Result'))
      return results.get(result ?? '') ?? unlisted(result)
    },
  }
}

/** By the first word: the vendor adds further ones freely. */
function callFailure(code: string | undefined): Outcome<Finding> {
  const reason = `tencent:${loggable(code)}`
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
      return { kind: 'not_sent', reason, onlyThisMessage: true }
    default:
      return { kind: 'ambiguous', reason }
  }
}
