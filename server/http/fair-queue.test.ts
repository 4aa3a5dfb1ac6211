// The fair queue: limits, turns of the shares, and who is refused.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createFairQueue, type FairQueueOptions, QueueFull } from './fair-queue.ts'

/** Runs tasks that end one by one, when the test says so. */
function createBench(options: FairQueueOptions) {
  const queue = createFairQueue(options)
  const started: string[] = []
  const ends: (() => void)[] = []
  const refused: string[] = []
  let maxRunning = 0
  let running = 0
  return {
    queue,
    started,
    refused,
    maxRunning: () => maxRunning,
    add(share: string, name = share): Promise<void> {
      return queue
        .run(share, async () => {
          started.push(name)
          running += 1
          maxRunning = Math.max(maxRunning, running)
          await new Promise<void>((resolve) => ends.push(resolve))
          running -= 1
        })
        .catch((error: unknown) => {
          assert.ok(error instanceof QueueFull)
          refused.push(name)
        })
    },
    /** Ends the oldest running task. */
    async endOne() {
      ends.shift()?.()
      await new Promise(setImmediate)
    },
  }
}

it('runs no more at a time than allowed, and everything in the end', async () => {
  const bench = createBench({ maxRunning: 2, maxWaiting: 100 })
  const all = Array.from({ length: 20 }, (_, index) => bench.add(`share ${index % 3}`))
  for (let index = 0; index < 20; index += 1) await bench.endOne()
  await Promise.all(all)
  assert.equal(bench.started.length, 20)
  assert.equal(bench.maxRunning(), 2)
})

it('35 a flood from one share delays another share by no more than the tasks that run', async () => {
  const bench = createBench({ maxRunning: 1, maxWaiting: 64 })
  for (let index = 0; index < 1_000; index += 1) void bench.add('flood')
  void bench.add('owner')
  await bench.endOne()
  await bench.endOne()
  assert.deepEqual(bench.started.slice(0, 3), ['flood', 'flood', 'owner'])
})

it('35 refuses at once what does not fit, and only tasks of the largest share', async () => {
  const bench = createBench({ maxRunning: 1, maxWaiting: 4 })
  for (let index = 0; index < 10; index += 1) void bench.add('flood')
  await new Promise(setImmediate)
  assert.equal(bench.refused.length, 5)
  assert.equal(bench.queue.isFullFor('flood'), true)
  assert.equal(bench.queue.isFullFor('owner'), false)
  for (const name of ['a', 'b', 'c']) void bench.add(name)
  await new Promise(setImmediate)
  assert.deepEqual(new Set(bench.refused), new Set(['flood']))
  assert.equal(bench.queue.isFullFor('d'), true, 'four shares have one task each')
})

it('35 shares of a lower rank come first and are not refused beside those of a higher one', async () => {
  const ranks: Readonly<Record<string, number>> = { known: -1, fresh: 0 }
  const bench = createBench({ maxRunning: 1, maxWaiting: 4, rankOf: (share) => ranks[share] ?? 1 })
  for (let index = 0; index < 5; index += 1) void bench.add(`guesser ${index}`)
  assert.equal(bench.queue.isFullFor('guesser 5'), true)
  assert.equal(bench.queue.isFullFor('fresh'), false)
  void bench.add('fresh')
  void bench.add('known')
  await new Promise(setImmediate)
  assert.deepEqual(bench.refused, ['guesser 1', 'guesser 2'])
  assert.equal(
    bench.queue.isFullFor('fresh'),
    true,
    'a second task of a share is no better than the first of another',
  )
  for (let index = 0; index < 5; index += 1) await bench.endOne()
  assert.deepEqual(bench.started, ['guesser 0', 'known', 'fresh', 'guesser 3', 'guesser 4'])
})

it('35 groups of one rank take turns, and the larger group is refused first', async () => {
  const groupOf = (share: string) => share.split(' ')[0]!
  const bench = createBench({ maxRunning: 1, maxWaiting: 6, rankOf: () => 0, groupOf })
  for (const name of ['first 0', 'first 1', 'first 2', 'first 3', 'back 0', 'back 1', 'back 2'])
    void bench.add(name)
  assert.equal(bench.queue.isFullFor('first 4'), true)
  assert.equal(bench.queue.isFullFor('late 0'), false)
  void bench.add('late 0')
  await new Promise(setImmediate)
  assert.equal(bench.refused.length, 1)
  for (let index = 0; index < 7; index += 1) await bench.endOne()
  // The first one started at once; then each group has its turn before one has a second.
  assert.deepEqual(
    bench.started.slice(0, 5).map((name) => groupOf(name)),
    ['first', 'back', 'late', 'first', 'back'],
  )
  assert.equal(bench.started.length, 7)
})

it('145 leaves room for others beside a share that has its number of running tasks', async () => {
  const bench = createBench({ maxRunning: 3, maxRunningOfShare: 2, maxWaiting: 100 })
  for (let index = 0; index < 10; index += 1) void bench.add('flood')
  await new Promise(setImmediate)
  assert.deepEqual(bench.started, ['flood', 'flood'])
  void bench.add('owner')
  void bench.add('other')
  await new Promise(setImmediate)
  assert.deepEqual(bench.started, ['flood', 'flood', 'owner'])
  // A task of the flood ends: `other` waits for less time than the flood, but it is the flood's turn and then the other's.
  await bench.endOne()
  await bench.endOne()
  assert.deepEqual(new Set(bench.started.slice(3)), new Set(['flood', 'other']))
  for (let index = 0; index < 20; index += 1) await bench.endOne()
  assert.equal(bench.started.length, 12)
  assert.equal(bench.maxRunning(), 3)
})

it('continues after work that fails', async () => {
  const queue = createFairQueue({ maxRunning: 1, maxWaiting: 1 })
  await assert.rejects(
    queue.run('a', () => Promise.reject(new Error('broken'))),
    /broken/,
  )
  assert.equal(await queue.run('a', async () => 1), 1)
})

it('35 a task that has waited too long is refused, and the others are served', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const queue = createFairQueue({ maxRunning: 1, maxWaiting: 10, maxWaitMs: 1_000 })
  const { promise: blocked, resolve: release } = Promise.withResolvers<string>()
  const first = queue.run('a', () => blocked)
  const early = queue.run('a', async () => 'early')
  t.mock.timers.tick(600)
  const late = queue.run('a', async () => 'late')
  const refused = assert.rejects(early, QueueFull)
  t.mock.timers.tick(600)
  await refused
  release('first')
  assert.deepEqual(await Promise.all([first, late]), ['first', 'late'])
  t.mock.timers.tick(2_000)
  assert.equal(await queue.run('a', async () => 'again'), 'again')
})
