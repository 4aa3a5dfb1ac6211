// One gateway as the service uses it: behind its guard, and believed only as long as its canary answers make sense.
import { createGuard, type Guard } from '../upstream/guard.ts'
import type { Outcome } from '../upstream/outcome.ts'
import { type Belief, type CanaryPair, firstBelief, nextBelief } from './canary.ts'
import type { Address, DomainGateway, Verdict } from './port.ts'

/** Longer than the gateway's own limit, so that its own word about a timeout is heard. */
const guardSlackMs = 500

/** With dozens of questions under way, a moment's loss of the network fails many at once; that alone closes nothing. */
const failuresInARow = 20

export interface GuardedGateway {
  readonly name: string
  /** `distrusted`: its canary answers make no sense. `paused`: it failed too often, and is left alone for a moment. */
  readonly state: 'up' | 'paused' | 'distrusted'
  readonly guard: Guard
  ask(address: Address): Promise<Outcome<Verdict>>
  /** Asks the pair, past all distrust, and draws the conclusion. True when the state changed. */
  askCanary(pair: CanaryPair): Promise<boolean>
}

export function guardGateway(
  gateway: DomainGateway,
  limits: { timeoutMs: number; maxConcurrent: number },
): GuardedGateway {
  const guard = createGuard({
    name: `domain-${gateway.name}`,
    timeoutMs: limits.timeoutMs + guardSlackMs,
    // Room for the canary beside all that the schedule lets through.
    maxConcurrent: limits.maxConcurrent + 2,
    maxQueued: 0,
    breakAfterConsecutiveFailures: failuresInARow,
    halfOpenAfterMs: 5_000,
  })
  let belief: Belief = firstBelief

  const askAnyway = (address: Address) => guard.run((signal) => gateway.check(address, signal))

  return {
    name: gateway.name,
    guard,
    get state() {
      if (!belief.trusted) return 'distrusted'
      return guard.state === 'closed' ? 'up' : 'paused'
    },
    async ask(address) {
      return belief.trusted ? askAnyway(address) : { kind: 'not_sent', reason: 'distrusted' }
    },
    async askCanary(pair) {
      const before = belief.trusted
      const [good, bad] = await Promise.all([askAnyway(pair.good), askAnyway(pair.bad)])
      belief = nextBelief(belief, good, bad)
      return belief.trusted !== before
    },
  }
}
