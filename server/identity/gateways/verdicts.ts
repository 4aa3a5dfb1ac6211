// Shared by the identity gateways: reading a JSON response, and the outcomes they return.
import type { HttpResponse, HttpResult } from '../../upstream/http-call.ts'
import { type JsonObject, parseJsonObject } from '../../upstream/json.ts'
import type { Ambiguous, NotSent, Outcome, Refused } from '../../upstream/outcome.ts'
import type { RefusalCode, UnreadableReason, VerificationResult, Verdict } from '../port.ts'

export type ReadResponse =
  | { readonly response: HttpResponse; readonly json: JsonObject }
  | { readonly response?: undefined; readonly failure: NotSent | Ambiguous }

/** The JSON object in a response of any status. Everything else is a failure of the gateway. */
export function readResponse(result: HttpResult): ReadResponse {
  if (result.kind !== 'response') return { failure: result }
  if (result.truncated) return { failure: unreadable('answer_too_large') }
  const json = parseJsonObject(result.body)
  if (json !== undefined) return { response: result, json }
  if (result.status === 200) return { failure: unreadable('answer_not_json') }
  return { failure: { kind: 'ambiguous', reason: `http_${result.status}` } }
}

function unreadable(reason: UnreadableReason): Ambiguous {
  return { kind: 'ambiguous', reason }
}

/**
 * A code that may be logged: a short number, or words joined by dots. Names contain no dot and ID numbers are longer, so a
 * vendor that echoes the request puts no personal data into a log.
 */
export function loggableCode(code: string | undefined): string {
  return code !== undefined && /^-?\d{1,5}$|^[A-Za-z]{1,40}(\.[A-Za-z]{1,40}){1,3}$/.test(code)
    ? code
    : 'unlisted'
}

/** A well-formed response with a code that is not in the vendor's table: never a match. */
export function refuseUnlisted(code: string | undefined): Refused {
  return { kind: 'refused', code: 'unlisted' satisfies RefusalCode, reason: `unlisted:${loggableCode(code)}` }
}

export function refusePerson(reason: string): Refused {
  return { kind: 'refused', code: 'person' satisfies RefusalCode, reason }
}

export function acceptVerdict(
  verdict: Verdict,
  details: VerificationResult['details'] = {},
): Outcome<VerificationResult> {
  return { kind: 'accepted', value: { verdict, details } }
}
