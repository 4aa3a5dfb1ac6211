// Calls gateways one after another, in order of preference, while the caller's rule allows it.
import type { Outcome } from './outcome.ts'

export interface Attempt<T> {
  readonly gateway: string
  readonly outcome: Outcome<T>
}

export interface FailoverResult<T> {
  readonly outcome: Outcome<T>
  /** The gateway of the outcome; undefined only without any gateway. */
  readonly gateway: string | undefined
  /** All attempts in order. The last one has the outcome above. */
  readonly attempts: readonly Attempt<T>[]
}

/**
 * `mayTryNext` is `mayTryNextGateway` where a second call could do the work twice (SMS). Where a second call is harmless
 * (identity, domain check) the caller passes a wider rule. An accepted outcome always ends the loop.
 */
export async function tryInOrder<G extends { readonly name: string }, T>(
  gateways: readonly G[],
  call: (gateway: G) => Promise<Outcome<T>>,
  mayTryNext: (outcome: Outcome<T>) => boolean,
): Promise<FailoverResult<T>> {
  const attempts: Attempt<T>[] = []
  for (const gateway of gateways) {
    const outcome = await callWithoutThrowing(gateway, call)
    attempts.push({ gateway: gateway.name, outcome })
    if (outcome.kind === 'accepted' || !mayTryNext(outcome)) break
  }
  const last = attempts.at(-1)
  return {
    outcome: last?.outcome ?? { kind: 'not_sent', reason: 'no_gateway' },
    gateway: last?.gateway,
    attempts,
  }
}

/** An exception does not say how far the call got, so it is ambiguous. */
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
