// Limits of concurrent checks, and fair turns of calls.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { createScheduler } from './scheduler.ts'

/** Work that the test ends. */
function createManualWork() {
  const open: (() => void)[] = []
  const started: number[] = []
  return {
    started,
    open,
    work: (index: number) => {
      started.push(index)
      return new Promise<void>((resolve) => open.push(resolve))
    },
    async endAll() {
      while (open.length > 0) {
        open.shift()!()
        await turn()
      }
    },
  }
}

describe('scheduler', () => {
  test('other work runs between items that end at once', async () => {
    const scheduler = createScheduler({ perCall: 8, inTotal: 32 })
    let ended = 0
    const batches = Array.from({ length: 20 }, () =>
      scheduler.start(50, async () => {
        ended += 1
      }),
    )
    await turn()
    assert.ok(ended > 0 && ended < 200, `${ended} items in one turn`)
    await Promise.all(batches.map(({ finished }) => finished))
    assert.equal(ended, 1_000)
  })

  test('respects the limits and runs every item exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(60), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 12 }),
        fc.infiniteStream(fc.nat(3)),
        async (counts, perCall, inTotal, delays) => {
          const scheduler = createScheduler({ perCall, inTotal })
          let all = 0
          const batches = counts.map((count) => {
            const seen: number[] = []
            let own = 0
            const batch = scheduler.start(count, async (index) => {
              seen.push(index)
              own += 1
              all += 1
              assert.ok(own <= perCall && all <= inTotal)
              for (let turns = delays.next().value as number; turns > 0; turns--) await turn()
              own -= 1
              all -= 1
              if (index % 7 === 3) throw new Error('work may fail, its slot is free again')
            })
            return { batch, seen, count }
          })
          for (const { batch, seen, count } of batches) {
            await batch.finished
            assert.deepEqual(
              seen,
              Array.from({ length: count }, (_, index) => index),
            )
          }
          assert.equal(scheduler.running, 0)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('does not delay a small call by a large one', async () => {
    const scheduler = createScheduler({ perCall: 4, inTotal: 4 })
    const huge = createManualWork()
    const small = createManualWork()
    scheduler.start(500, huge.work)
    assert.equal(huge.started.length, 4)
    scheduler.start(1, small.work)
    assert.equal(small.started.length, 0, 'every slot is in use')
    huge.open.shift()!()
    await turn()
    assert.deepEqual(small.started, [0], 'the next free slot goes to the small call')
    assert.equal(huge.started.length, 4)
  })

  test('shares the slots equally between two calls', async () => {
    const scheduler = createScheduler({ perCall: 8, inTotal: 8 })
    const order: string[] = []
    const one = scheduler.start(50, async () => {
      order.push('a')
      await turn()
    })
    const other = scheduler.start(50, async () => {
      order.push('b')
      await turn()
    })
    await Promise.all([one.finished, other.finished])
    const shared = order.slice(8, 72)
    const share = shared.filter((name) => name === 'a').length
    assert.ok(Math.abs(share - 32) <= 8, `${share} of 64`)
  })

  test('a stopped call starts nothing and keeps its slots until they are free', async () => {
    const scheduler = createScheduler({ perCall: 2, inTotal: 2 })
    const one = createManualWork()
    const other = createManualWork()
    const batch = scheduler.start(10, one.work)
    scheduler.start(1, other.work)
    batch.stop()
    assert.equal(other.started.length, 0)
    await one.endAll()
    await batch.finished
    assert.equal(one.started.length, 2)
    assert.deepEqual(other.started, [0])
    await other.endAll()
    assert.equal(scheduler.running, 0)
  })

  test('a call stopped in the queue is finished', async () => {
    const scheduler = createScheduler({ perCall: 1, inTotal: 1 })
    const one = createManualWork()
    scheduler.start(1, one.work)
    const waiting = createManualWork()
    const batch = scheduler.start(3, waiting.work)
    batch.stop()
    await batch.finished
    await one.endAll()
    assert.equal(waiting.started.length, 0)
  })

  test('an empty call finishes immediately', async () => {
    await createScheduler({ perCall: 1, inTotal: 1 }).start(0, async () => assert.fail()).finished
  })
})
