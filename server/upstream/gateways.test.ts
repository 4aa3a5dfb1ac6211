// Gateways created from settings: order, guards, counters.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { Counter, Registry } from 'prom-client'

import { countOutcomes, createGateways } from './gateways.ts'
import type { Outcome } from './outcome.ts'

interface TestGateway {
  readonly name: string
  send(outcome: Outcome<string>): Promise<Outcome<string>>
}

const factory = (name: string) => (): TestGateway => ({ name, send: async (outcome) => outcome })
const factories = { sandbox: factory('sandbox'), first: factory('first'), second: factory('second') }
const limits = { timeoutMs: 100, maxConcurrent: 2, maxQueued: 0, breakAfterConsecutiveFailures: 2 }
const ambiguous: Outcome<string> = { kind: 'ambiguous', reason: 'timeout' }

const create = (...names: (keyof typeof factories)[]) => createGateways(names, factories, {}, limits)

describe('gateways', () => {
  it('keep the order of the settings', () => {
    assert.deepEqual(
      create('second', 'sandbox', 'first').map(({ name }) => name),
      ['second', 'sandbox', 'first'],
    )
  })

  it('have their own circuit breakers, except the sandbox', async () => {
    const gateways = create('first', 'second', 'sandbox')
    const [first, second, sandbox] = gateways
    for (let calls = 0; calls < 3; calls += 1) {
      await first!.call((gateway) => gateway.send(ambiguous))
      await sandbox!.call((gateway) => gateway.send(ambiguous))
    }
    assert.deepEqual(
      gateways.map(({ guard }) => guard.state),
      ['open', 'closed', 'closed'],
    )
    assert.equal(sandbox!.guard.lastError?.reason, 'timeout')
    assert.equal(second!.guard.counters.calls, 0)
    const thrown = await sandbox!.call(() => Promise.reject(new TypeError('13800138000')))
    assert.deepEqual(thrown, { kind: 'ambiguous', reason: 'exception:TypeError' })
  })

  it('export their counters as a metric', async () => {
    const gateways = create('first')
    const registry = new Registry()
    new Counter({
      name: 'calls_total',
      help: 'calls',
      labelNames: ['gateway', 'outcome'],
      registers: [registry],
      collect() {
        this.reset()
        for (const { count, ...labels } of countOutcomes(gateways)) if (count > 0) this.inc(labels, count)
      },
    })
    await gateways[0]!.call((gateway) => gateway.send({ kind: 'accepted', value: 'id' }))
    await gateways[0]!.call((gateway) => gateway.send(ambiguous))
    for (let scrapes = 0; scrapes < 2; scrapes += 1) {
      const text = await registry.metrics()
      assert.match(text, /^calls_total\{gateway="first",outcome="accepted"\} 1$/m)
      assert.match(text, /^calls_total\{gateway="first",outcome="ambiguous"\} 1$/m)
      assert.doesNotMatch(text, /refused/)
    }
  })
})
