// Counters in memory: what is counted when there are more keys than the memory holds.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { minuteMs } from '../../contract/time.ts'
import { createMemoryAttempts } from './memory.ts'

/** More than the windows that are kept. */
const networks = Array.from({ length: 60_000 }, (_, index) => `network ${index}`)

it('visits and wrong keys from many networks do not reset the count of wrong passwords', () => {
  const attempts = createMemoryAttempts(() => 0)
  const password = () => attempts.attempt([{ key: 'password account 1', max: 2 }], 15 * minuteMs)
  assert.ok('counted' in password())
  assert.ok('counted' in password())

  for (const network of networks) attempts.attempt([{ key: `share ${network}`, max: 60 }], minuteMs)
  assert.ok('retryAfterMs' in password(), 'visits')

  attempts.addFailures(
    networks.map((network) => ({ key: `wrong key ${network}`, count: 1 })),
    minuteMs,
  )
  assert.ok('retryAfterMs' in password(), 'wrong keys')
})
