// The port to an identity provider: does this name belong to this ID number?
import type { ExtraKey } from '../../contract/identity.ts'
import type { Outcome } from '../upstream/outcome.ts'

/** Validated and normalized. Only in memory, for the duration of the call. */
export interface Person {
  readonly name: string
  readonly number: string
}

export type Verdict = 'match' | 'mismatch' | 'no_record'

/** What a gateway returns with its verdict: the documented keys with unchecked values. */
export type PersonDetails = Partial<Record<ExtraKey, unknown>>

export interface VerificationResult {
  readonly verdict: Verdict
  readonly details: PersonDetails
}

export interface IdentityGateway {
  readonly name: string
  /**
   * Every verdict comes from an explicit table; a code outside the table is not a verdict. `reason` of the other outcomes
   * never contains personal data.
   */
  verify(person: Person, signal: AbortSignal): Promise<Outcome<VerificationResult>>
}

/**
 * `person`: the gateway rejects this name or number, and the vendor's rules forbid trying another gateway.
 * `unlisted`: a well-formed response with an unknown code; the next gateway is tried.
 */
export type RefusalCode = 'person' | 'unlisted'

/** Reasons of an ambiguous outcome whose response cannot be read. */
export const unreadableReasons = ['answer_too_large', 'answer_not_json'] as const
export type UnreadableReason = (typeof unreadableReasons)[number]
