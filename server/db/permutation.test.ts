import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { halfSipHash, secretOrder } from './permutation.ts'

test('HalfSipHash-2-4 answers as in its authors’ vectors', () => {
  // Key 00 01 … 07, message 00 01 02 03: 2a 6e 46 89.
  const hash = halfSipHash(0x03020100, 0x07060504, 0x03020100)
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(hash)
  assert.equal(bytes.toString('hex'), '2a6e4689')
})

test('every number has one place and every place one number', () => {
  const order = secretOrder(Buffer.from('a key'), 13, 71)
  const all = Array.from({ length: order.size }, (_, place) => order.scatter(place))
  assert.deepEqual(
    all.toSorted((a, b) => a - b),
    all.map((_, place) => place),
  )
  for (const [place, number] of all.entries()) assert.equal(order.gather(number), place)
})

test('there and back, for any key and any size', () => {
  const size = fc.integer({ min: 2, max: 2 ** 26 })
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
      size,
      size,
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (key, left, right, at) => {
        const order = secretOrder(Buffer.from(key), left, right)
        const place = Math.floor(at * order.size)
        const number = order.scatter(place)
        assert.ok(Number.isInteger(number) && number >= 0 && number < order.size)
        assert.equal(order.gather(number), place)
        assert.equal(order.scatter(order.gather(place)), place)
      },
    ),
  )
})

test('rows are found by it: what it says never changes', () => {
  const order = secretOrder(Buffer.alloc(16, 7), 57 ** 3, 57 ** 4)
  assert.deepEqual(
    [0, 1, 2, order.size - 1].map(order.scatter),
    [520039832514, 1384254048971, 1043564609687, 372632821140],
  )
})

test('neighbours come out as strangers, and nobody else’s key puts them together', () => {
  const order = secretOrder(Buffer.alloc(16, 1), 57 ** 3, 57 ** 4)
  const other = secretOrder(Buffer.alloc(16, 2), 57 ** 3, 57 ** 4)
  const many = 20_000
  const tenths = Array.from({ length: 10 }, () => 0)
  let close = 0
  let closeByOther = 0
  for (let place = 1_000_000; place < 1_000_000 + many; place += 1) {
    const number = order.scatter(place)
    tenths[Math.floor((number / order.size) * 10)]! += 1
    if (Math.abs(number - order.scatter(place + 1)) < order.size / 1_000) close += 1
    if (Math.abs(other.gather(number) - other.gather(order.scatter(place + 1))) < order.size / 1_000)
      closeByOther += 1
  }
  // Chance has 2,000 ± 42 in each tenth, and 40 ± 6 pairs this close.
  for (const count of tenths) assert.ok(Math.abs(count - many / 10) < 250, String(tenths))
  assert.ok(close > 5 && close < 100, String(close))
  assert.ok(closeByOther > 5 && closeByOther < 100, String(closeByOther))
})
