// What a gateway of the domain check is: it is asked about one address and gives a verdict, or says why it cannot.
import type { Outcome } from '../upstream/outcome.ts'

/** `passes` is 未拦截, `blocked` is 已拦截. Everything a gateway is not sure of is no verdict at all. */
export type Verdict = 'passes' | 'blocked'

/** An address that keeps the rules of address.ts: a public name, in ASCII and lower case. */
export interface Address {
  /** Absolute, with scheme and path, without a fragment. */
  readonly url: string
  /** The name alone, without a port. */
  readonly host: string
}

export interface DomainGateway {
  readonly name: string
  /** Never contacts the address itself. `signal` is the guard's: the answer is no longer waited for. */
  check(address: Address, signal: AbortSignal): Promise<Outcome<Verdict>>
}
