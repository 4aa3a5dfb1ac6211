// Reading what an upstream answered: the few steps every gateway here takes in the same way.
import type { HttpAnswer, HttpResult } from '../../upstream/http-call.ts'
import { parseJsonObject } from '../../upstream/http-call.ts'
import type { Ambiguous, NotSent, Outcome, Refused } from '../../upstream/outcome.ts'
import type { Finding, RefusalCode, Verdict } from '../port.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export type ReadAnswer =
  | { readonly answer: HttpAnswer; readonly json: JsonObject }
  | { readonly answer?: undefined; readonly failure: NotSent | Ambiguous }

/** The JSON object of an answer, whatever its status; anything else is a failure of the gateway. */
export function readAnswer(result: HttpResult): ReadAnswer {
  if (result.kind !== 'answer') return { failure: result }
  if (result.truncated) return { failure: unreadable('answer_too_large') }
  const json = parseJsonObject(result.body)
  return json === undefined
    ? { failure: unreadable(result.status === 200 ? 'answer_not_json' : `http_${result.status}`) }
    : { answer: result, json }
}

function unreadable(reason: string): Ambiguous {
  return { kind: 'ambiguous', reason }
}

/** Vendors send codes as text or as numbers. Nothing else is a code, and no value is ever taken for true or false. */
export function codeOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/**
 * A code as it may be logged: a short number, or words joined by dots. A name holds no dot and an ID number is longer, so
 * that a vendor who answers with what it was asked puts nothing of a person into a log.
 */
export function loggable(code: string | undefined): string {
  return code !== undefined && /^-?\d{1,5}$|^[A-Za-z]{1,40}(\.[A-Za-z]{1,40}){1,3}$/.test(code)
    ? code
    : 'unlisted'
}

/** An answer in good order whose word is in no table: never a match. */
export function unlisted(code: string | undefined): Refused {
  const refusal: RefusalCode = 'unlisted'
  return { kind: 'refused', code: refusal, reason: `unlisted:${loggable(code)}` }
}

export function refusedPerson(reason: string): Refused {
  const refusal: RefusalCode = 'person'
  return { kind: 'refused', code: refusal, reason }
}

export function found(verdict: Verdict, facts: Finding['facts'] = {}): Outcome<Finding> {
  return { kind: 'accepted', value: { verdict, facts } }
}

/** What lies at `data.result`; undefined when the way there is none. */
export function at(json: JsonObject, path: string): unknown {
  let value: unknown = json
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as JsonObject)[step]
  }
  return value
}
