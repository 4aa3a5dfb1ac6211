// The permutation behind short codes: published vectors, and an output that never changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createPermutation, halfSipHash } from './permutation.ts'

test('HalfSipHash-2-4 returns the published test vector', () => {
  // Key 00 01 … 07, message 00 01 02 03: 2a 6e 46 89.
  const hash = halfSipHash(0x03020100, 0x07060504, 0x03020100)
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(hash)
  assert.equal(bytes.toString('hex'), '2a6e4689')
})

test('every position has one number and every number one position', () => {
  const permutation = createPermutation(Buffer.from('a key'), 13, 71)
  const all = Array.from({ length: permutation.size }, (_, position) => permutation.encrypt(position))
  assert.deepEqual(
    all.toSorted((a, b) => a - b),
    all.map((_, position) => position),
  )
  for (const [position, number] of all.entries()) assert.equal(permutation.decrypt(number), position)
})

test('decrypt reverses encrypt, for any key and any size', () => {
  const size = fc.integer({ min: 2, max: 2 ** 26 })
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
      size,
      size,
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (key, left, right, fraction) => {
        const permutation = createPermutation(Buffer.from(key), left, right)
        const position = Math.floor(fraction * permutation.size)
        const number = permutation.encrypt(position)
        assert.ok(Number.isInteger(number) && number >= 0 && number < permutation.size)
        assert.equal(permutation.decrypt(number), position)
        assert.equal(permutation.encrypt(permutation.decrypt(position)), position)
      },
    ),
  )
})

test('the output never changes, because stored rows depend on it', () => {
  const permutation = createPermutation(Buffer.alloc(16, 7), 57 ** 3, 57 ** 4)
  assert.deepEqual(
    [0, 1, 2, permutation.size - 1].map(permutation.encrypt),
    [520039832514, 1384254048971, 1043564609687, 372632821140],
  )
})

test('consecutive positions have unrelated numbers, also when decrypted with another key', () => {
  const permutation = createPermutation(Buffer.alloc(16, 1), 57 ** 3, 57 ** 4)
  const other = createPermutation(Buffer.alloc(16, 2), 57 ** 3, 57 ** 4)
  const many = 20_000
  const tenths = Array.from({ length: 10 }, () => 0)
  let close = 0
  let closeWithOtherKey = 0
  for (let position = 1_000_000; position < 1_000_000 + many; position += 1) {
    const number = permutation.encrypt(position)
    tenths[Math.floor((number / permutation.size) * 10)]! += 1
    if (Math.abs(number - permutation.encrypt(position + 1)) < permutation.size / 1_000) close += 1
    if (
      Math.abs(other.decrypt(number) - other.decrypt(permutation.encrypt(position + 1))) <
      permutation.size / 1_000
    )
      closeWithOtherKey += 1
  }
  // A random order has 2,000 ± 42 in each tenth, and 40 ± 6 pairs this close.
  for (const count of tenths) assert.ok(Math.abs(count - many / 10) < 250, String(tenths))
  assert.ok(close > 5 && close < 100, String(close))
  assert.ok(closeWithOtherKey > 5 && closeWithOtherKey < 100, String(closeWithOtherKey))
})
