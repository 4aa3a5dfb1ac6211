import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { secondChance } from './clock-cache.ts'

it('tells what was set last or nothing, never weighs more than allowed, and keeps what was set just now', () => {
  const step = fc.record({
    what: fc.constantFrom('get', 'set', 'set', 'clear'),
    key: fc.integer({ min: 0, max: 12 }).map((n) => `k${n}`),
    weight: fc.integer({ min: 1, max: 4 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 4, max: 20 }), (steps, most) => {
      const memory = secondChance<{ weight: number }>(most, ({ weight }) => weight)
      const latest = new Map<string, { weight: number }>()
      for (const { what, key, weight } of steps) {
        if (what === 'clear') {
          memory.clear()
          latest.clear()
        } else if (what === 'set') {
          latest.set(key, { weight })
          memory.set(key, latest.get(key)!)
          assert.ok([latest.get(key), undefined].includes(memory.get(key)))
        } else {
          const known = memory.get(key)
          if (known !== undefined) assert.equal(known, latest.get(key))
        }
        const held = [...latest.keys()].filter((one) => memory.get(one) !== undefined)
        assert.equal(held.length, memory.size())
        assert.ok(held.reduce((sum, one) => sum + latest.get(one)!.weight, 0) <= most)
      }
    }),
  )
})

it('keeps everything that fits, and what is asked for again and again among many that are not', () => {
  const memory = secondChance<number>(1_000, () => 1)
  for (let n = 0; n < 1_000; n += 1) memory.set(`k${n}`, n)
  for (let n = 0; n < 1_000; n += 1) assert.equal(memory.get(`k${n}`), n)
  for (let n = 1_000; n < 50_000; n += 1) {
    memory.set(`k${n}`, n)
    for (let hot = 0; hot < 20; hot += 1) memory.get(`k${hot}`)
  }
  for (let hot = 0; hot < 20; hot += 1) assert.equal(memory.get(`k${hot}`), hot)
  assert.equal(memory.get('k49999'), 49_999)
  assert.equal(memory.get('k500'), undefined)
  assert.equal(memory.size(), 1_000)
})

it('holds nothing that is heavier than everything together', () => {
  const memory = secondChance<string>(10, (text) => text.length)
  memory.set('a', 'aaaa')
  memory.set('b', 'b'.repeat(11))
  assert.equal(memory.get('b'), undefined)
  memory.set('a', 'aa')
  assert.equal(memory.get('a'), 'aa')
})
