// Asking gateways one after the other, in the configured order, for as long as the caller's rule allows.

import type { Outcome } from './outcome.ts'

export interface Attempt<T> {
  readonly gateway: string
  readonly outcome: Outcome<T>
}

export interface FailoverResult<T> {
  readonly outcome: Outcome<T>
  /** The gateway the outcome comes from; undefined only when there was none to ask. */
  readonly gateway: string | undefined
  /** Everyone asked, in order; the last one is the one above. */
  readonly tried: readonly Attempt<T>[]
}

/**
 * `mayAskNext` is `mayAskNextGateway` wherever a second call could do the work twice (SMS). Where a repeated question
 * harms nobody (identity), the caller passes a wider rule. No rule leads on from `accepted`.
 */
export async function tryInOrder<G extends { readonly name: string }, T>(
  gateways: readonly G[],
  call: (gateway: G) => Promise<Outcome<T>>,
  mayAskNext: (outcome: Outcome<T>) => boolean,
): Promise<FailoverResult<T>> {
  const tried: Attempt<T>[] = []
  for (const gateway of gateways) {
    const outcome = await callWithoutThrowing(gateway, call)
    tried.push({ gateway: gateway.name, outcome })
    if (outcome.kind === 'accepted' || !mayAskNext(outcome)) break
  }
  const last = tried.at(-1)
  if (last === undefined) {
    return { outcome: { kind: 'not_sent', reason: 'no_gateway' }, gateway: undefined, tried }
  }
  return { outcome: last.outcome, gateway: last.gateway, tried }
}

// Whoever calls without a guard must not lose the order of things to an exception: nobody knows how far it got.
async function callWithoutThrowing<G, T>(
  gateway: G,
  call: (gateway: G) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  try {
    return await call(gateway)
  } catch {
    return { kind: 'ambiguous', reason: 'exception' }
  }
}
