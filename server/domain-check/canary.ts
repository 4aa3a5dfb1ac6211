// Honest verdicts: a known good and a known bad address are asked regularly, and a gateway that gets them wrong is not believed.
import type { Outcome } from '../upstream/outcome.ts'
import type { Address, Verdict } from './port.ts'

export interface CanaryPair {
  readonly good: Address
  readonly bad: Address
}

export interface Belief {
  readonly trusted: boolean
  /** Rounds in a row that brought no verdict. One may be bad luck; two are a silence. */
  readonly silences: number
}

export const firstBelief: Belief = { trusted: true, silences: 0 }

const silencesAllowed = 1

export function nextBelief(belief: Belief, good: Outcome<Verdict>, bad: Outcome<Verdict>): Belief {
  // The breaker has the gateway in hand already, and nobody was asked.
  if (wasNotAsked(good) || wasNotAsked(bad)) return belief
  if (isWrong(good, 'passes') || isWrong(bad, 'blocked')) return { trusted: false, silences: 0 }
  if (good.kind === 'accepted' && bad.kind === 'accepted') return firstBelief
  const silences = belief.silences + 1
  return { trusted: belief.trusted && silences <= silencesAllowed, silences }
}

function isWrong(outcome: Outcome<Verdict>, expected: Verdict): boolean {
  return outcome.kind === 'accepted' && outcome.value !== expected
}

function wasNotAsked(outcome: Outcome<Verdict>): boolean {
  return outcome.kind === 'not_sent' && outcome.reason.startsWith('guard_')
}
