// The cache with clock eviction, compared with a plain map.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { createClockCache } from './clock-cache.ts'

it('returns the last value or nothing, and never exceeds its weight', () => {
  const step = fc.record({
    what: fc.constantFrom('get', 'set', 'set', 'clear'),
    key: fc.integer({ min: 0, max: 12 }).map((n) => `k${n}`),
    weight: fc.integer({ min: 1, max: 4 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 4, max: 20 }), (steps, maxWeight) => {
      const cache = createClockCache<{ weight: number }>(maxWeight, ({ weight }) => weight)
      const latest = new Map<string, { weight: number }>()
      for (const { what, key, weight } of steps) {
        if (what === 'clear') {
          cache.clear()
          latest.clear()
        } else if (what === 'set') {
          latest.set(key, { weight })
          cache.set(key, latest.get(key)!)
          assert.ok([latest.get(key), undefined].includes(cache.get(key)))
        } else {
          const known = cache.get(key)
          if (known !== undefined) assert.equal(known, latest.get(key))
        }
        const cached = [...latest.keys()].filter((one) => cache.get(one) !== undefined)
        assert.equal(cached.length, cache.size())
        assert.ok(cached.reduce((sum, one) => sum + latest.get(one)!.weight, 0) <= maxWeight)
      }
    }),
  )
})

it('keeps what fits, and entries that are read often', () => {
  const cache = createClockCache<number>(1_000, () => 1)
  for (let n = 0; n < 1_000; n += 1) cache.set(`k${n}`, n)
  for (let n = 0; n < 1_000; n += 1) assert.equal(cache.get(`k${n}`), n)
  for (let n = 1_000; n < 50_000; n += 1) {
    cache.set(`k${n}`, n)
    for (let hot = 0; hot < 20; hot += 1) cache.get(`k${hot}`)
  }
  for (let hot = 0; hot < 20; hot += 1) assert.equal(cache.get(`k${hot}`), hot)
  assert.equal(cache.get('k49999'), 49_999)
  assert.equal(cache.get('k500'), undefined)
  assert.equal(cache.size(), 1_000)
})

it('does not store a value heavier than the limit', () => {
  const cache = createClockCache<string>(10, (text) => text.length)
  cache.set('a', 'aaaa')
  cache.set('b', 'b'.repeat(11))
  assert.equal(cache.get('b'), undefined)
  cache.set('a', 'aa')
  assert.equal(cache.get('a'), 'aa')
})
