// The five ways a call to an upstream can end, and the one rule about asking the next gateway.

/** The upstream took the work, in exactly its documented word for success. */
export interface Accepted<T> {
  readonly kind: 'accepted'
  readonly value: T
}

/** The upstream refused for something our caller can change. Nothing was done. */
export interface Refused {
  readonly kind: 'refused'
  readonly code: string
  readonly reason: string
}

/** The upstream refused because of a rate. Nothing was done. */
export interface Throttled {
  readonly kind: 'throttled'
  /** `recipient`: this number or message had enough, no gateway will help. `us`: our own rate at this gateway. */
  readonly concerns: 'recipient' | 'us'
  readonly reason: string
}

/** It is proven that the upstream did nothing: never reached, or refused before any work for a cause that is ours. */
export interface NotSent {
  readonly kind: 'not_sent'
  readonly reason: string
  /**
   * The cause is this one message at this one gateway (a template unknown there), so that other messages may well go
   * through: the breaker does not count it, or one caller could close a gateway for everybody.
   */
  readonly onlyThisMessage?: true
}

/** The upstream may or may not have acted: timeout, cut connection, unreadable or unlisted answer. */
export interface Ambiguous {
  readonly kind: 'ambiguous'
  readonly reason: string
}

/**
 * `reason` is a short word or vendor code for logs and metrics. It never holds a phone number, a name, an ID number, a
 * URL or the vendor's free text, which may quote them.
 */
export type Outcome<T> = Accepted<T> | Refused | Throttled | NotSent | Ambiguous

/** Another gateway may be asked only when it is proven that this one did nothing: otherwise someone gets it twice. */
export function mayAskNextGateway(outcome: Outcome<unknown>): boolean {
  return outcome.kind === 'not_sent'
}
