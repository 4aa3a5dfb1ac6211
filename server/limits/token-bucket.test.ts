// Token buckets and failure windows in memory.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { FailureWindows, TokenBuckets } from './token-bucket.ts'

it('allows at most the burst plus the refill', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(
      steps,
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 20 }),
      (pauses, perSecond, burst) => {
        const buckets = new TokenBuckets()
        let now = 0
        let allowed = 0
        for (const pause of pauses) {
          now += pause
          const taken = buckets.take(1, { perSecond, burst }, now)
          if (taken.allowed) allowed += 1
          else assert.ok(taken.resetSeconds >= 1)
          assert.ok(allowed <= burst + (now / 1000) * perSecond + 1e-6)
        }
      },
    ),
  )
})

it('counts accounts separately', () => {
  const buckets = new TokenBuckets()
  const limit = { perSecond: 1, burst: 1 }
  assert.equal(buckets.take(1, limit, 0).allowed, true)
  assert.equal(buckets.take(1, limit, 0).allowed, false)
  assert.equal(buckets.take(2, limit, 0).allowed, true)
  assert.equal(buckets.take(1, limit, 1_000).allowed, true)
})

it('accepts an address again after its window', () => {
  const failures = new FailureWindows(2)
  assert.equal(failures.fail('a', 0), undefined)
  assert.equal(failures.fail('a', 0), undefined)
  assert.equal(failures.fail('a', 30_000), 30)
  assert.equal(failures.fail('b', 30_000), undefined)
  assert.equal(failures.fail('a', 60_000), undefined)
})

it('holds a bounded number of addresses', () => {
  const failures = new FailureWindows(1)
  for (let i = 0; i < 250_000; i++) failures.fail(`address ${i}`, 0)
  // The first one was forgotten long ago, the last one was not.
  assert.equal(failures.fail('address 0', 1), undefined)
  assert.equal(failures.fail('address 249999', 1), 60)
})
