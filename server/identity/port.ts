// The port to whoever knows the register: one question, and the few answers there are.
import type { ExtraKey } from '../../contract/identity.ts'
import type { Outcome } from '../upstream/outcome.ts'

/** Both already checked and folded. They exist in memory only, for the length of the call. */
export interface Person {
  readonly name: string
  readonly number: string
}

export type Verdict = 'match' | 'mismatch' | 'no_record'

/** What a gateway says beside its verdict, under the documented keys, the values still as they came. */
export type Facts = Partial<Record<ExtraKey, unknown>>

export interface Finding {
  readonly verdict: Verdict
  readonly facts: Facts
}

export interface IdentityGateway {
  readonly name: string
  /**
   * Every verdict comes out of an explicit table; what is not in it is no verdict. `reason` of the other outcomes never
   * holds anything of the person.
   */
  ask(person: Person, signal: AbortSignal): Promise<Outcome<Finding>>
}

/**
 * The codes of a refusal. `person`: the gateway does not take this name or number, and asking another is not allowed.
 * `unlisted`: it answered in good order, but with a word that is in no table: the next gateway is asked.
 */
export type RefusalCode = 'person' | 'unlisted'
