// Slices grow and shrink with the time that they take.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSliceSize } from './slice-size.ts'

test('a slice grows until it takes the time that others may wait, and shrinks when rows take longer', () => {
  const size = createSliceSize(4)
  const first = size.rows()
  const run = (msPerRow: number, slices: number) => {
    for (let i = 0; i < slices; i += 1) size.record(size.rows(), size.rows() * msPerRow)
    return size.rows()
  }
  assert.equal(run(0.01, 1), first * 2, 'at most twice as many at once')
  assert.equal(run(0.01, 5), 400)
  assert.equal(run(0.04, 1), 200, 'at least half as many at once')
  assert.equal(run(0.04, 5), 100)
  assert.equal(run(10, 10), 50, 'never fewer than this')
  assert.equal(run(0, 10), 1_000, 'never more than this')
})

test('a slice that costs too much is halved down to one row', () => {
  const size = createSliceSize(4)
  for (let i = 0; i < 10; i += 1) size.halve()
  assert.equal(size.rows(), 1)
  size.record(1, 0.01)
  assert.ok(size.rows() > 1)
})
