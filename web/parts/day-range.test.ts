// Ranges of days in Shanghai.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveDayRange } from './day-range.ts'

// 00:30 on 1 March in Shanghai is still February in UTC and in America.
const justAfterMidnight = Date.parse('2026-02-28T16:30:00Z')

test('resolves presets to days in Shanghai', () => {
  const days = (name: string, from = '', to = '') => resolveDayRange(name, from, to, justAfterMidnight)
  assert.deepEqual(days('today'), { from: '2026-03-01', to: '2026-03-01' })
  assert.deepEqual(days('yesterday'), { from: '2026-02-28', to: '2026-02-28' })
  assert.deepEqual(days('7d'), { from: '2026-02-23', to: '2026-03-01' })
  assert.deepEqual(days('30d'), { from: '2026-01-31', to: '2026-03-01' })
  assert.deepEqual(days('month'), { from: '2026-03-01', to: '2026-03-01' })
  assert.deepEqual(days('all'), {})
  assert.deepEqual(days('nonsense'), {})
})

test('swaps custom dates in the wrong order and ignores invalid dates', () => {
  const days = (from: string, to: string) => resolveDayRange('custom', from, to, justAfterMidnight)
  assert.deepEqual(days('2026-02-10', '2026-02-01'), { from: '2026-02-01', to: '2026-02-10' })
  assert.deepEqual(days('2026-02-30', '2026-03-01'), { to: '2026-03-01' })
  assert.deepEqual(days('', ''), {})
})
