// What the benchmarks compute. The run of all of them is bench.heavy.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastThird } from '../bench/soak.ts'

test('the soak compares its last third with what came before', () => {
  assert.deepEqual(lastThird([1, 2, 3, 4, 5, 6, 7]), { last: [6, 7], before: [1, 2, 3, 4, 5] })
  assert.deepEqual(lastThird([7]), { last: [7], before: [7] })
})
