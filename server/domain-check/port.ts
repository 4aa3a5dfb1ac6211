// The port to a domain check provider: is this address blocked?
import type { Outcome } from '../upstream/outcome.ts'

/** `passes` is 未拦截, `blocked` is 已拦截. A gateway that is not sure returns no verdict. */
export type CheckVerdict = 'passes' | 'blocked'

/** A validated address (address.ts): a public host name in ASCII and lower case. */
export interface Address {
  /** Absolute, with scheme and path, without a fragment. */
  readonly url: string
  /** The host name without a port. */
  readonly host: string
}

export interface DomainGateway {
  readonly name: string
  /** Never contacts the address itself. */
  check(address: Address, signal: AbortSignal): Promise<Outcome<CheckVerdict>>
}
