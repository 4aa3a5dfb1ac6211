// When a gateway is trusted, by its canary verdicts.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Outcome } from '../upstream/outcome.ts'
import { type CanaryState, initialCanaryState, nextCanaryState } from './canary.ts'
import type { CheckVerdict } from './port.ts'

const passes: Outcome<CheckVerdict> = { kind: 'accepted', value: 'passes' }
const blocked: Outcome<CheckVerdict> = { kind: 'accepted', value: 'blocked' }
const unknown: Outcome<CheckVerdict> = { kind: 'refused', code: 'no_verdict', reason: 'unknown_page' }
const timeout: Outcome<CheckVerdict> = { kind: 'ambiguous', reason: 'timeout' }
const notAsked: Outcome<CheckVerdict> = { kind: 'not_sent', reason: 'guard_open' }

function after(
  ...rounds: readonly (readonly [good: Outcome<CheckVerdict>, bad: Outcome<CheckVerdict>])[]
): CanaryState {
  return rounds.reduce((state, [good, bad]) => nextCanaryState(state, good, bad), initialCanaryState)
}

describe('canary', () => {
  test('right verdicts keep the gateway trusted', () => assert.ok(after([passes, blocked]).trusted))

  test('a wrong verdict ends the trust immediately', () => {
    assert.ok(!after([passes, passes]).trusted, 'everything passes')
    assert.ok(!after([blocked, blocked]).trusted, 'everything is blocked')
    assert.ok(!after([unknown, passes]).trusted)
    assert.ok(!after([blocked, timeout]).trusted)
  })

  test('two consecutive rounds without a verdict end the trust', () => {
    assert.ok(after([unknown, blocked]).trusted)
    assert.ok(!after([unknown, blocked], [timeout, timeout]).trusted)
    assert.ok(after([unknown, unknown], [passes, blocked], [passes, unknown]).trusted)
  })

  test('only right verdicts restore the trust', () => {
    assert.ok(!after([passes, passes], [timeout, blocked]).trusted)
    assert.ok(!after([passes, passes], [notAsked, notAsked]).trusted)
    assert.ok(after([passes, passes], [timeout, blocked], [passes, blocked]).trusted)
  })

  test('calls rejected by the guard do not count', () =>
    assert.ok(after([notAsked, notAsked], [notAsked, blocked], [passes, notAsked]).trusted))

  test('two verdicts decide the trust regardless of earlier rounds', () => {
    const outcome = fc.constantFrom(passes, blocked, unknown, timeout, notAsked)
    const verdict = fc.constantFrom(passes, blocked)
    fc.assert(
      fc.property(fc.array(fc.tuple(outcome, outcome)), verdict, verdict, (before, good, bad) =>
        assert.equal(after(...before, [good, bad]).trusted, good === passes && bad === blocked),
      ),
    )
  })
})
