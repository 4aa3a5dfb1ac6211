// Batches: which items share a transaction, and what happens to a batch that fails.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { until } from '../../test/support/until.ts'
import { createBatcher } from './batcher.ts'
import { DatabaseUnavailable } from './database.ts'

onEachEngine('batcher', (engine) => {
  it('runs the items of one turn as one batch and the later ones as the next', async () => {
    await using fresh = await freshDatabase(engine)
    const batches: number[][] = []
    const run = createBatcher<number, number>(fresh.db, {
      maxBatch: 3,
      queueKeyOf: () => 0,
      run: async (_tx, items) => {
        batches.push([...items])
        return items.map((item) => item * 2)
      },
    })
    assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map(run)), [2, 4, 6, 8, 10])
    assert.equal(await run(6), 12)
    assert.deepEqual(batches, [[1, 2, 3], [4, 5], [6]])
  })

  it('writes what is waiting in halves where the service can work meanwhile', async () => {
    await using fresh = await freshDatabase(engine)
    const sizes: number[] = []
    const run = createBatcher<number, number>(fresh.db, {
      maxBatch: 256,
      queueKeyOf: () => 0,
      run: async (_tx, items) => {
        sizes.push(items.length)
        return items
      },
    })
    const items = Array.from({ length: 200 }, (_, index) => index)
    assert.deepEqual(await Promise.all(items.map(run)), items)
    assert.deepEqual(sizes, engine === 'sqlite' ? [200] : [100, 50, 32, 18])
  })

  it('runs a batch with one statement where that is possible, and never again after an error', async () => {
    await using fresh = await freshDatabase(engine)
    const batches: string[] = []
    const run = createBatcher<number, number>(fresh.db, {
      maxBatch: 256,
      queueKeyOf: () => 0,
      run: async (_tx, items) => {
        batches.push(`transaction ${items.join(' ')}`)
        return items
      },
      async runStatement(items) {
        await Promise.resolve()
        batches.push(`statement ${items.join(' ')}`)
        if (items.includes(13)) throw new Error('after the commit')
        return items.some((item) => item < 10) ? undefined : { results: items, isContended: false }
      },
    })
    // Items of one turn, also those that arrive in a later task of it.
    const first = run(10)
    await Promise.resolve()
    assert.deepEqual(await Promise.all([first, run(11)]), [10, 11])
    assert.deepEqual(await Promise.all([1, 12].map(run)), [1, 12])
    const failed = await Promise.allSettled([12, 13].map(run))
    assert.deepEqual(
      failed.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.deepEqual(batches, ['statement 10 11', 'statement 1 12', 'transaction 1 12', 'statement 12 13'])
  })

  it('waits for the callers of the last batch while another process writes the same rows', async () => {
    await using fresh = await freshDatabase(engine)
    /** Calls that come back, a third of them per turn of the event loop. Returns the sizes of their batches. */
    async function sizesOf(count: number, isContended: boolean): Promise<readonly number[]> {
      const sizes: number[] = []
      const run = createBatcher<number, number>(fresh.db, {
        maxBatch: 256,
        queueKeyOf: () => 0,
        run: () => assert.fail('not in a transaction'),
        async runStatement(items) {
          await nextTurn()
          sizes.push(items.length)
          return { results: items, isContended }
        },
      })
      async function callTwice(index: number): Promise<void> {
        await run(index)
        for (let turns = index % 3; turns > 0; turns -= 1) await nextTurn()
        await run(index)
      }
      await Promise.all(Array.from({ length: count }, (_, index) => callTwice(index)))
      return sizes.slice(1)
    }
    // Four fifths of 24, and not the rest of their third. On a busy machine they may come back too late, so it may take several times.
    await until(async () => (await sizesOf(24, true)).includes(20))
    await until(async () => (await sizesOf(120, true)).includes(96))
    for (let times = 0; times < 20; times += 1) {
      assert.ok(Math.max(...(await sizesOf(24, false))) < 20)
      assert.ok(Math.max(...(await sizesOf(6, true))) < 5)
    }
  })

  it('begins the next batch before the items of the last one continue, where the service can work meanwhile', async () => {
    await using fresh = await freshDatabase(engine)
    async function eventsOf(): Promise<readonly string[]> {
      const events: string[] = []
      const log = async (batch: Promise<number>) => events.push(`result ${await batch}`)
      const run = createBatcher<number, number>(fresh.db, {
        maxBatch: 1,
        queueKeyOf: () => 0,
        run: async (_tx, [item]) => {
          events.push(`run ${item}`)
          if (item === 2) throw new Error('two fails')
          return [item!]
        },
      })
      const results = await Promise.allSettled([1, 2, 3].map((item) => log(run(item))))
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      return events
    }
    const inTurn = ['run 1', 'result 1', 'run 2', 'run 3', 'result 3']
    if (engine === 'sqlite') assert.deepEqual(await eventsOf(), inTurn)
    // On a busy machine the connection may not be free yet, so it may take several times.
    else {
      const ahead = ['run 1', 'run 2', 'result 1', 'run 3', 'result 3']
      await until(async () => isDeepStrictEqual(await eventsOf(), ahead))
    }
  })

  it('takes items that arrived meanwhile into the batch, in their order', async () => {
    await using fresh = await freshDatabase(engine)
    const batches: number[][] = []
    const later: Promise<number>[] = []
    const run = createBatcher<number, number>(fresh.db, {
      maxBatch: 4,
      queueKeyOf: () => 0,
      run: async (_tx, first, takeMore) => {
        if (first.includes(1)) for (const item of [11, 20, 12, 13, 14]) later.push(run(item))
        const items = [...first, ...takeMore((item) => item < 20)]
        batches.push(items)
        return items.map((item) => item * 2)
      },
    })
    assert.deepEqual(await Promise.all([1, 2].map(run)), [2, 4])
    assert.deepEqual(await Promise.all(later), [22, 40, 24, 26, 28])
    assert.deepEqual(batches, [
      [1, 2, 11, 12],
      [20, 13, 14],
    ])
  })

  it('runs the items of a failed batch one by one, each with its own result', async () => {
    await using fresh = await freshDatabase(engine)
    const run = createBatcher<number, number>(fresh.db, {
      maxBatch: 10,
      queueKeyOf: () => 0,
      run: async (_tx, items) => {
        if (items.includes(2)) throw new Error('two fails')
        return items
      },
    })
    const results = await Promise.allSettled([1, 2, 3].map(run))
    assert.deepEqual(
      results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason))),
      [1, 'Error: two fails', 3],
    )
  })

  it('does not retry a batch when the database became unavailable: it may be durable', async () => {
    await using fresh = await freshDatabase(engine)
    let runs = 0
    const run = createBatcher<number, number>(fresh.db, {
      maxBatch: 10,
      queueKeyOf: () => 0,
      run: async () => {
        runs += 1
        throw new DatabaseUnavailable('connection lost at COMMIT')
      },
    })
    for (const result of await Promise.allSettled([1, 2].map(run))) {
      assert.ok(result.status === 'rejected' && result.reason instanceof DatabaseUnavailable)
    }
    assert.equal(runs, 1)
  })
})
