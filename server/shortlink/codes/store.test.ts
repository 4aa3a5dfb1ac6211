// Codes as they are given out: unlike each other, and each found again at its place.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { emptyStorage, onEachEngine } from '../../../test/support/engines.ts'
import { migrate } from '../../db/migrate.ts'
import { alphabet, codeLength, isReserved, isUgly } from './code.ts'
import { findCodes, openCodes } from './store.ts'

test('codes made one after the other look like drawn by lot, and stand side by side', () => {
  const codes = openCodes(randomBytes(16))
  const many = 20_000
  const made = Array.from({ length: many }, () => codes.make())
  assert.equal(new Set(made.map(({ code }) => code)).size, many)
  for (const { code, place } of made) {
    assert.equal(code.length, codeLength)
    assert.ok(!isUgly(code) && !isReserved(code), code)
    assert.equal(codes.placeOf(code), place)
    assert.equal(codes.codeAt(place), code)
  }
  // Every letter is as frequent as every other, wherever it stands: 351 ± 19 times.
  for (let at = 0; at < codeLength; at += 1) {
    for (const letter of alphabet) {
      const times = made.filter(({ code }) => code[at] === letter).length
      assert.ok(times > 200 && times < 520, `${letter} ${times} times at ${at}`)
    }
  }
  // A code has 0.018 letters in common with the next one at each of its seven places, by chance.
  const common = made
    .slice(1)
    .reduce((sum, { code }, index) => sum + commonLetters(code, made[index]!.code), 0)
  assert.ok(Math.abs(common / many - codeLength / alphabet.length) < 0.02, String(common / many))
  const steps = made.slice(1).map(({ place }, index) => place - made[index]!.place)
  assert.ok(steps.filter((step) => step >= 1 && step <= 256).length >= many - 2)
  assert.ok(new Set(steps).size > 32)
})

function commonLetters(one: string, other: string): number {
  return [...one].filter((letter, at) => other[at] === letter).length
}

test('another run begins somewhere else', () => {
  const codes = openCodes(Buffer.alloc(16, 9))
  const before = codes.make().place
  codes.leap()
  assert.ok(Math.abs(codes.make().place - before) > 1_000)
  assert.ok(Math.abs(openCodes(Buffer.alloc(16, 9)).make().place - before) > 1_000)
})

test('what is no code has no place', () => {
  const codes = openCodes(Buffer.alloc(16, 9))
  for (const text of ['', 'abcdef', 'abcdefgh', 'abcdef0', 'Oabcdef', 'abc-efg', '短码短码短码短'])
    assert.equal(codes.placeOf(text), undefined, text)
  const letter = fc.constantFrom(...alphabet)
  fc.assert(
    fc.property(fc.array(letter, { minLength: codeLength, maxLength: codeLength }), (letters) => {
      const code = letters.join('')
      assert.equal(codes.codeAt(codes.placeOf(code)!), code)
    }),
  )
})

onEachEngine('the key of the codes', (engine) => {
  test('is made once and is another one in every database', async () => {
    const first: string[] = []
    for (let n = 0; n < 2; n += 1) {
      // Migrated here: the key is made by a migration, and copies of one migrated database would share it.
      const storage = await emptyStorage(engine)
      const db = storage.open()
      await migrate(db)
      first.push((await findCodes(db)).codeAt(1))
      assert.equal((await findCodes(db)).codeAt(1), first[n])
      await db.close()
      await storage.remove()
    }
    assert.notEqual(first[0], first[1])
  })
})
