// Sketches of visitors: their size, and how exact the number of distinct visitors is.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { createVisitorUnion, decodeSketch, encodeSketch, sketchSize } from './visitor-sketch.ts'

const hashOf = (person: number) => createHash('sha256').update(`person ${person}`).digest().readUIntBE(0, 6)
const people = (from: number, to: number) => Array.from({ length: to - from }, (_one, i) => hashOf(from + i))

function countOf(groups: readonly (readonly number[])[], maxHashes = 100_000): number {
  const union = createVisitorUnion(maxHashes)
  for (const group of groups) union.addCounted(group.length, encodeSketch(group))
  return union.count()
}

/** Four standard errors of a sketch; the hashes are always the same ones. */
function isNear(count: number, expected: number): void {
  assert.ok(Math.abs(count / expected - 1) < 4 / Math.sqrt(sketchSize), `${count} for ${expected}`)
}

describe('sketches of visitors', () => {
  it('keep all hashes of a few visitors, and the smallest of many', () => {
    const few = people(0, 5)
    assert.deepEqual(
      decodeSketch(encodeSketch([...few, few[0]!])),
      few.toSorted((a, b) => a - b),
    )
    const many = people(0, 3 * sketchSize).toSorted((a, b) => a - b)
    assert.deepEqual(decodeSketch(encodeSketch(many)), many.slice(0, sketchSize))
    assert.deepEqual(decodeSketch(encodeSketch([0, 2 ** 48 - 1])), [0, 2 ** 48 - 1])
  })

  it('count a person of several links once, exactly below their size', () => {
    assert.equal(countOf([people(0, 300), people(200, 500), people(0, 500)]), 500)
    assert.equal(countOf(Array.from({ length: 100 }, (_one, i) => people(500 * i, 500 * i + 500))), 50_000)
    assert.equal(countOf([people(0, sketchSize), people(0, 10)]), sketchSize)
  })

  it('estimate larger numbers', () => {
    isNear(countOf([people(0, 20_000), people(10_000, 30_000)]), 30_000)
    isNear(countOf([people(0, 20_000), people(0, 20_000), people(19_990, 20_100)]), 20_100)
    isNear(countOf([people(0, 500), people(500, 30_000)]), 30_000)
  })

  it('of one link alone are the number itself', () => {
    assert.equal(countOf([people(0, 20_000)]), 20_000)
    assert.equal(countOf([people(0, 20_000), people(50, 100)]) >= 20_000, true)
  })

  it('need little memory', () => {
    const groups = Array.from({ length: 100 }, (_one, i) => people(500 * i, 500 * i + 500))
    isNear(countOf(groups, sketchSize), 50_000)
  })

  it('are added to the hashes of a day that is not over, and to days without a sketch', () => {
    const union = createVisitorUnion(1_000)
    union.addCounted(7, '')
    union.addHashes(people(0, 10), false)
    union.addHashes(people(5, 12), false)
    assert.equal(union.count(), 7 + 12)
    const sorted = people(0, 30_000).toSorted((a, b) => a - b)
    union.addHashes(sorted.slice(0, 1_001), true)
    assert.equal(union.below, sorted[1_000])
    isNear(union.count(), 30_007)
  })
})
