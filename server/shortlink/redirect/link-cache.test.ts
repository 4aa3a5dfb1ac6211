// Invalidation of the link cache while queries run.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { createLinkCache } from './link-cache.ts'

interface Version {
  readonly id: number
  readonly version: number
}

it('never returns a value older than an invalidation, in any order of events', () => {
  const step = fc.record({
    what: fc.constantFrom('query', 'result', 'commit', 'message', 'clear'),
    id: fc.integer({ min: 0, max: 2 }),
    pick: fc.nat(20),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const cache = createLinkCache<Version>(2, () => 1)
      const stored = [0, 0, 0]
      const received = [0, 0, 0]
      const messages: Version[] = []
      // A result is the state of the database at its query, and may arrive at any time.
      const queries: { found: Version; version: number }[] = []
      for (const { what, id, pick } of steps) {
        if (what === 'query') queries.push({ found: { id, version: stored[id]! }, version: cache.version() })
        if (what === 'commit') messages.push({ id, version: ++stored[id]! })
        if (what === 'clear') cache.clear()
        if (what === 'message') {
          const next = messages.shift()
          if (next) {
            received[next.id] = next.version
            cache.invalidate(next.id)
          }
        }
        if (what === 'result' && queries.length > 0) {
          const [{ found, version }] = queries.splice(pick % queries.length, 1) as [(typeof queries)[0]]
          cache.set(`code${found.id}`, found, version)
        }
        for (const each of [0, 1, 2]) {
          const known = cache.get(`code${each}`)
          if (known) assert.ok(known.version >= received[each]!, 'an old value was returned')
        }
      }
    }),
    { numRuns: 2_000 },
  )
})

it('bounds its weight and the number of recorded changes', () => {
  const cache = createLinkCache<{ id: number; text: string }>(1_000, ({ text }) => text.length)
  for (let id = 0; id < 20_000; id += 1) cache.set(`c${id}`, { id, text: 'x'.repeat(100) }, cache.version())
  assert.ok(cache.size() <= 10)
  assert.equal(cache.get('c19999')?.id, 19_999)
  for (let id = 0; id < 30_000; id += 1) cache.invalidate(id)
  assert.equal(cache.get('c19999'), undefined)
  const version = cache.version()
  cache.set('again', { id: 29_999, text: '' }, version)
  assert.equal(cache.get('again')?.id, 29_999)
  cache.set('too late', { id: 1, text: '' }, 1)
  assert.equal(cache.get('too late'), undefined)
})
