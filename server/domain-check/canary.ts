// The canary: checks a known good and a known bad address regularly, and skips a gateway that returns wrong verdicts.
import type { GuardedGateway } from '../upstream/gateways.ts'
import { isShed } from '../upstream/guard.ts'
import type { Outcome } from '../upstream/outcome.ts'
import type { Address, DomainGateway, CheckVerdict } from './port.ts'

export interface CanaryPair {
  readonly good: Address
  readonly bad: Address
}

export interface CanaryState {
  readonly trusted: boolean
  /** Consecutive rounds without a verdict. */
  readonly failedRounds: number
}

export const initialCanaryState: CanaryState = { trusted: true, failedRounds: 0 }

const maxFailedRounds = 1

export function nextCanaryState(
  state: CanaryState,
  good: Outcome<CheckVerdict>,
  bad: Outcome<CheckVerdict>,
): CanaryState {
  // The round says nothing about the verdicts.
  if (isShed(good) || isShed(bad)) return state
  if (isWrong(good, 'passes') || isWrong(bad, 'blocked')) return { trusted: false, failedRounds: 0 }
  if (good.kind === 'accepted' && bad.kind === 'accepted') return initialCanaryState
  const failedRounds = state.failedRounds + 1
  return { trusted: state.trusted && failedRounds <= maxFailedRounds, failedRounds }
}

function isWrong(outcome: Outcome<CheckVerdict>, expected: CheckVerdict): boolean {
  return outcome.kind === 'accepted' && outcome.value !== expected
}

/** A gateway behind its guard that is called only while its canary verdicts are right. */
export interface MonitoredGateway extends Pick<GuardedGateway<DomainGateway>, 'name' | 'guard'> {
  /** `distrusted`: wrong canary verdicts. `paused`: the breaker is open. */
  readonly state: 'up' | 'paused' | 'distrusted'
  check(address: Address): Promise<Outcome<CheckVerdict>>
  /** Checks the pair even while distrusted. Returns true when the trust changed. */
  runCanary(pair: CanaryPair): Promise<boolean>
}

export function monitorGateway(guarded: GuardedGateway<DomainGateway>): MonitoredGateway {
  const { name, guard } = guarded
  let canary = initialCanaryState
  const check = (address: Address) => guarded.call((gateway, signal) => gateway.check(address, signal))

  return {
    name,
    guard,
    get state() {
      if (!canary.trusted) return 'distrusted'
      return guard.state === 'closed' ? 'up' : 'paused'
    },
    async check(address) {
      return canary.trusted ? check(address) : { kind: 'not_sent', reason: 'distrusted' }
    },
    async runCanary(pair) {
      const wasTrusted = canary.trusted
      const [good, bad] = await Promise.all([check(pair.good), check(pair.bad)])
      canary = nextCanaryState(canary, good, bad)
      return canary.trusted !== wasTrusted
    },
  }
}
