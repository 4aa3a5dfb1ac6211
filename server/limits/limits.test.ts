// Limits that several processes share: what reaches the shared store.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { minuteMs } from '../../contract/time.ts'
import { createSharedLimits } from './limits.ts'
import { createMemoryStore } from './memory.ts'

function openLimits() {
  const shared = createMemoryStore()
  const calls = { count: 0 }
  const store = {
    ...shared,
    attempt: (...args: Parameters<typeof shared.attempt>) => ((calls.count += 1), shared.attempt(...args)),
  }
  const log = pino({ enabled: false })
  return { calls, attempts: createSharedLimits(store, { log, metrics: new Registry() }).attempts }
}

const keysOf = (network: string) => [
  { key: `link password 1 ${network}`, max: 10 },
  { key: 'link password 1 site', max: 40 },
]

it('a flood of refused attempts does not reach the store, whose other callers would wait', async () => {
  const { calls, attempts } = openLimits()
  const results = []
  for (let index = 0; index < 500; index += 1)
    results.push(await attempts.attempt(keysOf(`network ${index % 100}`), minuteMs))
  const refused = results.filter((result) => 'retryAfterMs' in result)
  assert.equal(refused.length, 460)
  assert.ok(
    refused.every(({ retryAfterMs }) => retryAfterMs > 0.9 * minuteMs && retryAfterMs <= minuteMs),
    'the rest of the window',
  )
  assert.ok(calls.count < 50, `${calls.count} attempts reached the store`)
  assert.ok('counted' in (await attempts.attempt([{ key: 'other', max: 1 }], minuteMs)))
})

it('of attempts at the same time no more than the maximum reach the store', async () => {
  const { calls, attempts } = openLimits()
  const results = await Promise.all(
    Array.from({ length: 500 }, (_, index) =>
      attempts.attempt(keysOf(`network ${index % 100}`), 15 * minuteMs),
    ),
  )
  assert.equal(results.filter((result) => 'counted' in result).length, 40)
  assert.equal(calls.count, 40)
})

it('an attempt that is undone makes room for another one at once', async () => {
  const { attempts } = openLimits()
  const keys = [{ key: 'one', max: 1 }]
  const first = await attempts.attempt(keys, minuteMs)
  assert.ok('counted' in first)
  assert.ok('retryAfterMs' in (await attempts.attempt(keys, minuteMs)))
  await attempts.undo(first.counted)
  assert.ok('counted' in (await attempts.attempt(keys, minuteMs)))
  assert.ok('retryAfterMs' in (await attempts.attempt(keys, minuteMs)))
  await attempts.undo([], 'one')
  assert.ok('counted' in (await attempts.attempt(keys, minuteMs)))
})
