import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { linkCache } from './link-cache.ts'

interface Version {
  readonly id: number
  readonly version: number
}

it('never tells what was out of date when its change was heard of, whatever overtakes what', () => {
  const step = fc.record({
    what: fc.constantFrom('ask', 'answer', 'commit', 'hear', 'clear'),
    id: fc.integer({ min: 0, max: 2 }),
    pick: fc.nat(20),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const cache = linkCache<Version>(2, () => 1)
      const stored = [0, 0, 0]
      const heard = [0, 0, 0]
      const told: Version[] = []
      // Answers hold what stood in the database when it was asked, and arrive whenever they like.
      const asked: { found: Version; mark: number }[] = []
      for (const { what, id, pick } of steps) {
        if (what === 'ask') asked.push({ found: { id, version: stored[id]! }, mark: cache.mark() })
        if (what === 'commit') told.push({ id, version: ++stored[id]! })
        if (what === 'clear') cache.clear()
        if (what === 'hear') {
          const next = told.shift()
          if (next) {
            heard[next.id] = next.version
            cache.changed(next.id)
          }
        }
        if (what === 'answer' && asked.length > 0) {
          const [{ found, mark }] = asked.splice(pick % asked.length, 1) as [(typeof asked)[0]]
          cache.put(`code${found.id}`, found, mark)
        }
        for (const each of [0, 1, 2]) {
          const known = cache.get(`code${each}`)
          if (known) assert.ok(known.version >= heard[each]!, 'an old value came back')
        }
      }
    }),
    { numRuns: 2_000 },
  )
})

it('keeps a bounded weight, and a bounded memory of changes', () => {
  const cache = linkCache<{ id: number; text: string }>(1_000, ({ text }) => text.length)
  for (let id = 0; id < 20_000; id += 1) cache.put(`c${id}`, { id, text: 'x'.repeat(100) }, cache.mark())
  assert.ok(cache.size() <= 10)
  assert.equal(cache.get('c19999')?.id, 19_999)
  for (let id = 0; id < 30_000; id += 1) cache.changed(id)
  assert.equal(cache.get('c19999'), undefined)
  const mark = cache.mark()
  cache.put('again', { id: 29_999, text: '' }, mark)
  assert.equal(cache.get('again')?.id, 29_999)
  cache.put('too late', { id: 1, text: '' }, 1)
  assert.equal(cache.get('too late'), undefined)
})
