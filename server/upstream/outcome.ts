// The five outcomes of a call to an upstream, and the rule for failover.

/** The upstream accepted the work with its documented success code. */
export interface Accepted<T> {
  readonly kind: 'accepted'
  readonly value: T
}

/** The upstream refused for a reason that the caller can change. It did nothing. */
export interface Refused {
  readonly kind: 'refused'
  readonly code: string
  readonly reason: string
}

/** The upstream refused because of a rate limit. It did nothing. */
export interface Throttled {
  readonly kind: 'throttled'
  /** `recipient`: a limit of this phone number or person, so no other gateway helps. `us`: our limit at this gateway. */
  readonly concerns: 'recipient' | 'us'
  readonly reason: string
}

/** Proof that the upstream did nothing: never reached, or refused before any work for a reason on our side. */
export interface NotSent {
  readonly kind: 'not_sent'
  readonly reason: string
  /** Only this request fails at this gateway (for example an unknown template). The circuit breaker ignores it. */
  readonly onlyThisRequest?: true
}

/** The upstream may have acted: timeout, broken connection, unreadable response or unknown code. */
export interface Ambiguous {
  readonly kind: 'ambiguous'
  readonly reason: string
}

/**
 * `reason` is a fixed word or a vendor code for logs and metrics. It never contains a phone number, a name, an ID number,
 * a URL or the vendor's free text, which may quote them.
 */
export type Failure = Refused | Throttled | NotSent | Ambiguous

export type Outcome<T> = Accepted<T> | Failure

/** Failover needs proof that this gateway did nothing. Otherwise a recipient could get the same message twice. */
export function mayTryNextGateway(outcome: Outcome<unknown>): boolean {
  return outcome.kind === 'not_sent' || (outcome.kind === 'throttled' && outcome.concerns === 'us')
}
