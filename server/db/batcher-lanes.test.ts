// Batches of several numbers at the same time, on PostgreSQL: when another lane starts, and what may never happen.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { freshDatabase } from '../../test/support/engines.ts'
import { until } from '../../test/support/until.ts'
import { createBatcher } from './batcher.ts'

interface Item {
  readonly key: number
  readonly name: string
  readonly ms: number
}

describe('lanes of a batcher', () => {
  let fresh: Awaited<ReturnType<typeof freshDatabase>>

  before(async () => void (fresh = await freshDatabase('postgres')))
  after(() => fresh[Symbol.asyncDispose]())

  /** Batches take as long as their slowest item. `transactions` is the share of batches that a statement cannot write. */
  function recordBatches({ transactions = 0 } = {}) {
    const batches: string[] = []
    /** How many batches ran when each batch began, itself included. */
    const parallel: number[] = []
    const running = new Set<readonly Item[]>()

    async function write(items: readonly Item[]): Promise<readonly string[]> {
      assert.notEqual(items.length, 0)
      const keys = new Set(items.map(({ key }) => key))
      for (const other of running)
        assert.ok(!other.some(({ key }) => keys.has(key)), 'two batches of a number')
      running.add(items)
      parallel.push(running.size)
      batches.push(items.map(({ name }) => name).join(' '))
      await sleep(Math.max(...items.map(({ ms }) => ms)))
      running.delete(items)
      return items.map(({ name }) => name)
    }

    const run = createBatcher<Item, string>(fresh.db, {
      maxBatch: 256,
      queueKeyOf: ({ key }) => key,
      run: (_tx, items) => write(items),
      runStatement: async (items) =>
        Math.random() < transactions ? undefined : { results: await write(items), isContended: false },
    })
    return { run, batches, parallel, count: () => running.size }
  }

  it('one writes everything while no batch takes long', async () => {
    // A busy machine may be late once.
    await until(async () => {
      const { run, parallel } = recordBatches()
      await Promise.all(
        Array.from({ length: 40 }, async (_, key) => {
          for (let n = 0; n < 5; n += 1) await run({ key, name: `${n}`, ms: 1 })
        }),
      )
      return Math.max(...parallel) === 1
    })
  })

  it('write an item at once while all batches take long', async () => {
    const { run, batches } = recordBatches()
    const slow = run({ key: 1, name: 'slow', ms: 1_000 })
    await until(async () => batches.length === 1)
    // Longer than a batch may take before another one starts.
    await sleep(60)
    for (let n = 2; n < 20; n += 1) {
      const item = run({ key: n, name: `${n}`, ms: 0 })
      // In the turns of the event loop that a lane needs to start, without waiting for a timer.
      for (let turns = 0; turns < 3; turns += 1) await nextTurn()
      assert.equal(batches.at(-1), `${n}`)
      await item
    }
    await slow
  })

  it('while a batch takes long, another writes the items of other numbers', async () => {
    const { run, batches } = recordBatches()
    const done: string[] = []
    const start = (key: number, name: string, ms = 1) =>
      run({ key, name, ms }).then((result) => done.push(result))
    const slow = start(1, 'slow', 1_000)
    await until(async () => batches.length === 1)
    await Promise.all([slow, start(1, '1a'), start(2, '2a'), start(3, '3a'), start(1, '1b')])
    assert.deepEqual(done, ['2a', '3a', 'slow', '1a', '1b'])
    assert.deepEqual(batches, ['slow', '2a 3a', '1a 1b'])
  })

  it('the others stop when batches are quick again', async () => {
    const { run, parallel } = recordBatches()
    let ms = 60
    let isOpen = true
    const callers = Array.from({ length: 20 }, async (_, key) => {
      // They begin one after the other, so that not all of them are in the first batch.
      await sleep(2 * key)
      while (isOpen) await run({ key, name: 'x', ms })
    })
    try {
      await until(async () => parallel.includes(2))
      ms = 1
      await until(async () => parallel.length > 40 && parallel.slice(-20).every((count) => count === 1))
    } finally {
      isOpen = false
      await Promise.all(callers)
    }
  })

  it('the items of all numbers have a share of the next batch', async () => {
    const { run, batches } = recordBatches()
    const first = run({ key: 0, name: 'first', ms: 50 })
    await until(async () => batches.length === 1)
    const others = Array.from({ length: 300 }, (_, n) => run({ key: 0, name: `0:${n}`, ms: 1 }))
    const last = ['a', 'b', 'c'].map((name) => run({ key: 1, name, ms: 1 }))
    await Promise.all([first, ...others, ...last])
    const next = batches.find((names) => names.includes('a'))!.split(' ')
    assert.deepEqual(
      next.filter((name) => !name.startsWith('0:')),
      ['a', 'b', 'c'],
    )
    assert.ok(batches.indexOf(next.join(' ')) <= 1)
  })

  it('the lanes beside the first ones are limited for all batchers of a database', async () => {
    const batchers = [recordBatches(), recordBatches(), recordBatches()]
    const results: Promise<string>[] = []
    for (let key = 0; key < 5; key += 1) {
      for (const { run } of batchers) results.push(run({ key, name: `${key}`, ms: 600 }))
      await sleep(60)
    }
    const running = () => batchers.reduce((sum, { count }) => sum + count(), 0)
    assert.ok(running() <= batchers.length + 3, `${running()}`)
    await Promise.all(results)
    // All of them can be used again.
    const { run, count } = recordBatches()
    const last = Array.from({ length: 4 }, async (_, key) => {
      await sleep(100 * key)
      return run({ key, name: `${key}`, ms: 2_000 })
    })
    await until(async () => count() === 4)
    await Promise.all(last)
  })

  it('every item is written once, in the order of its number', async () => {
    const item = fc.record({ key: fc.nat(5), ms: fc.constantFrom(0, 1, 5, 40), pause: fc.nat(8) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(item, { minLength: 1, maxLength: 40 }),
        fc.constantFrom(0, 0.5),
        async (items, transactions) => {
          const { run, batches } = recordBatches({ transactions })
          const results: Promise<string>[] = []
          for (const [n, { key, ms, pause }] of items.entries()) {
            results.push(run({ key, name: `${key}:${n}`, ms }))
            if (pause > 5) await sleep(pause)
          }
          const names = items.map(({ key }, n) => `${key}:${n}`)
          assert.deepEqual(await Promise.all(results), names)
          const written = batches.flatMap((one) => one.split(' '))
          assert.equal(written.length, names.length)
          for (let key = 0; key <= 5; key += 1) {
            const ofKey = (list: readonly string[]) => list.filter((name) => name.startsWith(`${key}:`))
            assert.deepEqual(ofKey(written), ofKey(names))
          }
        },
      ),
      { numRuns: 25 },
    )
  })
})
