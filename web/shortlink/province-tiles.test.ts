// The tiles of the province map and their legend.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { provinces } from '../../contract/places.ts'
import { placedProvinces, shadeBounds, shadeOf } from './province-tiles.ts'

test('every province has one tile, and no two share a place', () => {
  assert.deepEqual(placedProvinces.map(({ code }) => code).sort(), Object.keys(provinces).sort())
  const places = placedProvinces.map(({ row, column }) => `${row} ${column}`)
  assert.equal(new Set(places).size, places.length)
})

test('the legend names every number of visits once, with the shade of its tiles', () => {
  for (const max of [0, 1, 2, 3, 4, 5, 7, 100, 1_001]) {
    const bounds = shadeBounds(max)
    for (let count = 0; count <= max; count += 1) {
      const named = bounds.filter(({ from, to }) => from <= count && count <= to)
      assert.equal(named.length, 1, `${count} of ${max}`)
      assert.equal(shadeOf(named[0]!.from, max), shadeOf(count, max), `${count} of ${max}`)
    }
    assert.equal(new Set(bounds.map(({ from }) => shadeOf(from, max))).size, bounds.length)
  }
})
