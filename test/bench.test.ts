// Unit tests of the benchmark calculations. bench.heavy.test.ts runs the benchmarks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastThird } from '../bench/soak.ts'

test('splits the samples of the soak into the last third and the rest', () => {
  assert.deepEqual(lastThird([1, 2, 3, 4, 5, 6, 7]), { last: [6, 7], before: [1, 2, 3, 4, 5] })
  assert.deepEqual(lastThird([7]), { last: [7], before: [7] })
})
