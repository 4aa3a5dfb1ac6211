// Turns of calls with long lists.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { AppError } from '../http/errors.ts'
import { createBatchTurns } from './batch-turns.ts'

test('145 batches of one account run two at a time, another account does not wait for them, and too many are a 429', async () => {
  const runBatch = createBatchTurns({ maxRunning: 4, maxRunningOfShare: 2, maxWaiting: 1_000 })
  const started: number[] = []
  const ends: (() => void)[] = []
  const refused: unknown[] = []
  const run = (accountId: number) =>
    runBatch(accountId, async () => {
      started.push(accountId)
      await new Promise<void>((resolve) => ends.push(resolve))
    }).catch((error: unknown) => refused.push(error))
  const busy = Array.from({ length: 1_003 }, () => run(1))
  await until(() => started.length === 2 && refused.length === 1)
  assert.ok(refused[0] instanceof AppError)
  assert.deepEqual([refused[0].code, refused[0].retryAfter], [429, 1])
  const other = run(2)
  await until(() => started.length === 3)
  assert.deepEqual(started, [1, 1, 2])
  for (let ended = 0; ended < 1_003; ended += 1) {
    await until(() => ends.length > 0)
    ends.shift()!()
  }
  await Promise.all([...busy, other])
  assert.equal(started.length, 1_003)
})
