import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { RateLimit, Taken } from './token-bucket.ts'
import { type Leases, openLeases } from './leases.ts'
import { memoryStore } from './memory.ts'
import type { LimitStore, Wish } from './port.ts'

const refuse = (): Taken => assert.fail('nobody counts alone here')

/** Processes with one clock and one common bucket. */
function processes(count: number, clock: { now: number }, store: LimitStore): Leases[] {
  return Array.from({ length: count }, () =>
    openLeases({
      draw: (wishes) => store.draw(wishes),
      alone: refuse,
      isAway: () => false,
      now: () => clock.now,
    }),
  )
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** What the documents promise: so much more than the limit at most, for each process. */
const overshoot = ({ burst }: RateLimit) => Math.floor(burst / 20) * 1.5

it('the sum over all processes stays within the limit and the stated overshoot; a small burst is exact', async () => {
  const rush = fc.record({
    pause: fc.integer({ min: 0, max: 700 }),
    calls: fc.array(fc.nat(2), { maxLength: 30 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(rush, { minLength: 1, maxLength: 25 }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 200 }),
      async (rushes, perSecond, burst) => {
        const limit = { perSecond, burst }
        const clock = { now: 5_000 }
        const all = processes(
          3,
          clock,
          memoryStore(() => clock.now),
        )
        let allowed = 0
        for (const { pause, calls } of rushes) {
          clock.now += pause
          const answers = calls.map(async (process) => all[process]!.take(1, limit))
          await turns(4)
          for (const answer of await Promise.all(answers)) {
            if (answer.allowed) allowed += 1
            else assert.ok(answer.left === 0 && answer.resetSeconds >= 1)
          }
          const most = burst + ((clock.now - 5_000) / 1000) * perSecond + 3 * overshoot(limit)
          assert.ok(allowed <= most + 1e-6, `${allowed} of ${most}`)
        }
      },
    ),
    { numRuns: 150 },
  )
})

it('a steady caller gets what it is owed, from each of several processes, and the bucket is asked seldom', async () => {
  const clock = { now: 0 }
  let draws = 0
  const common = memoryStore(() => clock.now)
  const store = { ...common, draw: (wishes: readonly Wish[]) => ((draws += 1), common.draw(wishes)) }
  const limit = { perSecond: 1_000, burst: 2_000 }
  const all = processes(2, clock, store)
  let refused = 0
  let waited = 0
  for (let ms = 0; ms < 4_000; ms += 1) {
    clock.now += 1
    const answer = all[ms % 2]!.take(1, limit)
    if (answer instanceof Promise) waited += 1
    if (!(await answer).allowed) refused += 1
    await turns(1)
  }
  assert.equal(refused, 0)
  assert.ok(draws < 200, `${draws} questions for 4000 calls`)
  assert.ok(waited < 20, `${waited} of 4000 calls had to wait`)
})

it('nobody is refused while there are tokens, however slowly the bucket answers', async () => {
  const clock = { now: 0 }
  const common = memoryStore(() => clock.now)
  const slow = {
    ...common,
    async draw(wishes: readonly Wish[]) {
      await turns(3)
      return common.draw(wishes)
    },
  }
  const all = processes(2, clock, slow)
  const answers: Promise<Taken>[] = []
  for (let count = 0; count < 300; count += 1) {
    answers.push(Promise.resolve(all[count % 2]!.take(1, { perSecond: 1, burst: 100 })))
    if (count % 7 === 0) await turns(1)
  }
  const allowed = (await Promise.all(answers)).filter((answer) => answer.allowed).length
  // The rest is at hand in one process or the other.
  assert.ok(allowed <= 100 && allowed >= 100 - 2 * overshoot({ perSecond: 1, burst: 100 }), String(allowed))
})

it('tells what is left as one process would', async () => {
  const clock = { now: 0 }
  const [one] = processes(
    1,
    clock,
    memoryStore(() => clock.now),
  )
  const limit = { perSecond: 1, burst: 5 }
  const answers: Taken[] = []
  for (let count = 0; count < 6; count += 1) answers.push(await one!.take(1, limit))
  assert.deepEqual(
    answers.map(({ allowed, left, resetSeconds }) => [allowed, left, resetSeconds]),
    [
      [true, 4, 1],
      [true, 3, 2],
      [true, 2, 3],
      [true, 1, 4],
      [true, 0, 5],
      [false, 0, 1],
    ],
  )
  // An empty bucket is not asked again before the next token is there.
  const again = one!.take(1, limit)
  assert.equal(again instanceof Promise, false)
  clock.now = 1_001
  assert.equal((await one!.take(1, limit)).allowed, true)
})

it('goes on alone when the bucket does not answer, and with another limit at once when that changes', async () => {
  let isAway = false
  const asked: number[] = []
  const leases = openLeases({
    draw: async () => {
      isAway = true
      throw new Error('away')
    },
    alone: (accountId) => {
      asked.push(accountId)
      return { allowed: true, left: 1, resetSeconds: 1 }
    },
    isAway: () => isAway,
  })
  const limit = { perSecond: 1, burst: 5 }
  const answers = await Promise.all([leases.take(1, limit), leases.take(1, limit), leases.take(2, limit)])
  assert.ok(answers.every(({ allowed }) => allowed))
  assert.equal(leases.take(3, limit) instanceof Promise, false)
  assert.deepEqual(
    asked.toSorted((x, y) => x - y),
    [1, 1, 2, 3],
  )

  const [one] = processes(
    1,
    { now: 0 },
    memoryStore(() => 0),
  )
  assert.equal((await one!.take(1, { perSecond: 1, burst: 1 })).allowed, true)
  assert.equal((await one!.take(1, { perSecond: 1, burst: 1 })).allowed, false)
})
