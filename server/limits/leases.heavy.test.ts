// The rate limit of several processes that lease tokens from a shared bucket.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { RateLimit, RateLimitResult } from './token-bucket.ts'
import { type Leases, createLeases } from './leases.ts'
import { createMemoryStore } from './memory.ts'
import type { LimitStore, DrawRequest } from './port.ts'

const failTest = (): RateLimitResult => assert.fail('counted locally')

/** Processes with one clock and one shared bucket. */
function processes(count: number, clock: { now: number }, store: LimitStore): Leases[] {
  return Array.from({ length: count }, () =>
    createLeases({
      draw: (requests) => store.draw(requests),
      takeLocally: failTest,
      isAway: () => false,
      now: () => clock.now,
    }),
  )
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** The documented maximum above the limit, per process. */
const overshoot = ({ burst }: RateLimit) => Math.floor(burst / 20) * 1.5

/** Whether the promise needs no further turn of the event loop. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  let resolved = false
  void promise.then(() => (resolved = true))
  await Promise.resolve()
  await Promise.resolve()
  return resolved
}

it('keeps all processes together within the limit and the documented overshoot; a small burst is exact', async () => {
  const trafficBurst = fc.record({
    pause: fc.integer({ min: 0, max: 700 }),
    calls: fc.array(fc.nat(2), { maxLength: 30 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(trafficBurst, { minLength: 1, maxLength: 25 }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 200 }),
      async (bursts, perSecond, burst) => {
        const limit = { perSecond, burst }
        const clock = { now: 5_000 }
        const all = processes(
          3,
          clock,
          createMemoryStore(() => clock.now),
        )
        let allowed = 0
        for (const { pause, calls } of bursts) {
          clock.now += pause
          const answers = calls.map(async (process) => all[process]!.take(1, limit))
          await turns(4)
          for (const answer of await Promise.all(answers)) {
            if (answer.allowed) allowed += 1
            else assert.ok(answer.remaining === 0 && answer.resetSeconds >= 1)
          }
          const max = burst + ((clock.now - 5_000) / 1000) * perSecond + 3 * overshoot(limit)
          assert.ok(allowed <= max + 1e-6, `${allowed} of ${max}`)
        }
      },
    ),
    { numRuns: 150 },
  )
})

it('allows a steady caller its full rate on several processes with few draws', async () => {
  const clock = { now: 0 }
  let draws = 0
  const shared = createMemoryStore(() => clock.now)
  const store = {
    ...shared,
    draw: (requests: readonly DrawRequest[]) => ((draws += 1), shared.draw(requests)),
  }
  const limit = { perSecond: 1_000, burst: 2_000 }
  const all = processes(2, clock, store)
  let refused = 0
  let waited = 0
  for (let ms = 0; ms < 4_000; ms += 1) {
    clock.now += 1
    const answer = all[ms % 2]!.take(1, limit)
    if (!(await isResolved(answer))) waited += 1
    if (!(await answer).allowed) refused += 1
    await turns(1)
  }
  assert.equal(refused, 0)
  assert.ok(draws < 200, `${draws} draws for 4000 calls`)
  assert.ok(waited < 20, `${waited} of 4000 calls had to wait`)
})

it('rejects no call while there are tokens, even if the shared bucket responds slowly', async () => {
  const clock = { now: 0 }
  const shared = createMemoryStore(() => clock.now)
  const slow = {
    ...shared,
    async draw(requests: readonly DrawRequest[]) {
      await turns(3)
      return shared.draw(requests)
    },
  }
  const all = processes(2, clock, slow)
  const answers: Promise<RateLimitResult>[] = []
  for (let count = 0; count < 300; count += 1) {
    answers.push(Promise.resolve(all[count % 2]!.take(1, { perSecond: 1, burst: 100 })))
    if (count % 7 === 0) await turns(1)
  }
  const allowed = (await Promise.all(answers)).filter((answer) => answer.allowed).length
  // The other tokens are leased by one of the processes.
  assert.ok(allowed <= 100 && allowed >= 100 - 2 * overshoot({ perSecond: 1, burst: 100 }), String(allowed))
})

it('reports the remaining tokens like a single process', async () => {
  const clock = { now: 0 }
  const [one] = processes(
    1,
    clock,
    createMemoryStore(() => clock.now),
  )
  const limit = { perSecond: 1, burst: 5 }
  const answers: RateLimitResult[] = []
  for (let count = 0; count < 6; count += 1) answers.push(await one!.take(1, limit))
  assert.deepEqual(
    answers.map(({ allowed, remaining, resetSeconds }) => [allowed, remaining, resetSeconds]),
    [
      [true, 4, 1],
      [true, 3, 2],
      [true, 2, 3],
      [true, 1, 4],
      [true, 0, 5],
      [false, 0, 1],
    ],
  )
  // An empty bucket is not asked again before its next token is due.
  const again = one!.take(1, limit)
  assert.equal(await isResolved(again), true)
  clock.now = 1_001
  assert.equal((await one!.take(1, limit)).allowed, true)
})

it('counts locally while the shared bucket is unavailable, and applies a changed limit immediately', async () => {
  let isAway = false
  const asked: number[] = []
  const leases = createLeases({
    draw: async () => {
      isAway = true
      throw new Error('away')
    },
    takeLocally: (accountId) => {
      asked.push(accountId)
      return { allowed: true, remaining: 1, resetSeconds: 1 }
    },
    isAway: () => isAway,
  })
  const limit = { perSecond: 1, burst: 5 }
  const answers = await Promise.all([leases.take(1, limit), leases.take(1, limit), leases.take(2, limit)])
  assert.ok(answers.every(({ allowed }) => allowed))
  assert.equal(await isResolved(leases.take(3, limit)), true)
  assert.deepEqual(
    asked.toSorted((x, y) => x - y),
    [1, 1, 2, 3],
  )

  const [one] = processes(
    1,
    { now: 0 },
    createMemoryStore(() => 0),
  )
  assert.equal((await one!.take(1, { perSecond: 1, burst: 1 })).allowed, true)
  assert.equal((await one!.take(1, { perSecond: 1, burst: 1 })).allowed, false)
})
