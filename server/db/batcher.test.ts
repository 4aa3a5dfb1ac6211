import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatcher } from './batcher.ts'
import { DatabaseUnavailable } from './database.ts'

test('runs the items of one turn as one batch and the later ones as the next', async () => {
  const batches: number[][] = []
  const run = createBatcher<number, number>({
    maxBatch: 3,
    runBatch: async (items) => {
      batches.push([...items])
      return items.map((item) => item * 2)
    },
    runSingle: () => assert.fail('no batch failed'),
  })
  assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map(run)), [2, 4, 6, 8, 10])
  assert.equal(await run(6), 12)
  assert.deepEqual(batches, [[1, 2, 3], [4, 5], [6]])
})

test('runs the items of a failed batch one by one, each with its own result', async () => {
  const run = createBatcher<number, number>({
    maxBatch: 10,
    runBatch: async () => {
      throw new Error('the batch fails')
    },
    runSingle: async (item) => {
      if (item === 2) throw new Error('two fails')
      return item
    },
  })
  const results = await Promise.allSettled([1, 2, 3].map(run))
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason))),
    [1, 'Error: two fails', 3],
  )
})

test('does not retry a batch when the database became unavailable: it may be durable', async () => {
  const run = createBatcher<number, number>({
    maxBatch: 10,
    runBatch: async () => {
      throw new DatabaseUnavailable('connection lost at COMMIT')
    },
    runSingle: () => assert.fail('must not run again'),
  })
  for (const result of await Promise.allSettled([1, 2].map(run))) {
    assert.ok(result.status === 'rejected' && result.reason instanceof DatabaseUnavailable)
  }
})
