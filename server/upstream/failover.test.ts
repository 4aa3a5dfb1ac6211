// Failover: which gateways are called, in which order, and that no message is sent twice.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import fc from 'fast-check'

import { tryInOrder } from './failover.ts'
import { mayTryNextGateway } from './outcome.ts'
import type { Outcome } from './outcome.ts'

const anyOutcome: fc.Arbitrary<Outcome<string>> = fc.constantFrom<Outcome<string>>(
  { kind: 'accepted', value: 'id' },
  { kind: 'refused', code: 'bad_number', reason: 'isv.MOBILE_NUMBER_ILLEGAL' },
  { kind: 'throttled', concerns: 'recipient', reason: 'isv.BUSINESS_LIMIT_CONTROL' },
  { kind: 'throttled', concerns: 'us', reason: 'Throttling' },
  { kind: 'not_sent', reason: 'ECONNREFUSED' },
  { kind: 'not_sent', reason: 'template_unknown', onlyThisRequest: true },
  { kind: 'ambiguous', reason: 'timeout' },
)

describe('with the rule for sending', () => {
  it('stops at the first outcome after which no other gateway may be called', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ arbitrary: anyOutcome, weight: 1 }, fc.constant('throws'))),
        async (script) => {
          const gateways = script.map((behaviour, index) => ({ name: `g${index}`, behaviour }))
          const called: string[] = []
          const result = await tryInOrder(
            gateways,
            async ({ name, behaviour }): Promise<Outcome<string>> => {
              called.push(name)
              if (typeof behaviour === 'string') throw new Error('broken gateway')
              return behaviour
            },
            mayTryNextGateway,
          )
          assert.deepEqual(
            called,
            gateways.slice(0, called.length).map(({ name }) => name),
            'in the configured order',
          )
          assert.deepEqual(
            result.attempts.map(({ gateway }) => gateway),
            called,
          )
          assert.equal(result.gateway, called.at(-1))

          const past = result.attempts.filter(({ outcome }) => !mayTryNextGateway(outcome))
          assert.ok(past.length <= 1)
          if (past.length === 1) assert.equal(past[0]?.gateway, result.gateway)
          else assert.equal(called.length, gateways.length, 'all were tried')
          assert.deepEqual(
            result.outcome,
            result.attempts.at(-1)?.outcome ?? { kind: 'not_sent', reason: 'no_gateway' },
          )
        },
      ),
    )
  })

  it('allows failover only after proof that nothing was done, unless the recipient is limited', () => {
    fc.assert(
      fc.property(anyOutcome, (outcome) => {
        const isOurLimit = outcome.kind === 'throttled' && outcome.concerns === 'us'
        assert.equal(mayTryNextGateway(outcome), outcome.kind === 'not_sent' || isOurLimit)
      }),
    )
  })

  it('returns not_sent without any gateway', async () => {
    const result = await tryInOrder([], () => assert.fail('there is no gateway'), mayTryNextGateway)
    assert.deepEqual(result, {
      outcome: { kind: 'not_sent', reason: 'no_gateway' },
      gateway: undefined,
      attempts: [],
    })
  })
})

describe('with a wider rule', () => {
  const gateways = [{ name: 'first' }, { name: 'second' }, { name: 'third' }]
  const script: Record<string, Outcome<boolean>> = {
    first: { kind: 'ambiguous', reason: 'timeout' },
    second: { kind: 'accepted', value: true },
    third: { kind: 'accepted', value: false },
  }

  it('continues while the rule allows it and stops at an accepted outcome', async () => {
    const result = await tryInOrder(
      gateways,
      async ({ name }) => script[name] ?? assert.fail(name),
      () => true,
    )
    assert.equal(result.gateway, 'second')
    assert.deepEqual(result.outcome, { kind: 'accepted', value: true })
    assert.deepEqual(
      result.attempts.map(({ gateway, outcome }) => [gateway, outcome.kind]),
      [
        ['first', 'ambiguous'],
        ['second', 'accepted'],
      ],
    )
  })

  it('treats an exception as ambiguous and hides its message', async () => {
    const result = await tryInOrder(
      gateways,
      () => Promise.reject(new Error('number 13800138000')),
      (outcome) => outcome.kind !== 'ambiguous',
    )
    assert.deepEqual(result.outcome, { kind: 'ambiguous', reason: 'exception' })
    assert.equal(result.attempts.length, 1)
  })
})
