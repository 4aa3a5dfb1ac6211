// New codes look random, and each has its position.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { emptyStorage, onEachEngine } from '../../../test/support/engines.ts'
import { migrate } from '../../db/migrate.ts'
import { alphabet, codeLength, isReserved, isOffensive } from './code.ts'
import { loadCodes, createCodes } from './store.ts'

test('consecutive codes look random and have neighbouring positions', () => {
  const codes = createCodes(randomBytes(16))
  const many = 20_000
  const created = Array.from({ length: many }, () => codes.next())
  assert.equal(new Set(created.map(({ code }) => code)).size, many)
  for (const { code, position } of created) {
    assert.equal(code.length, codeLength)
    assert.ok(!isOffensive(code) && !isReserved(code), code)
    assert.equal(codes.positionOf(code), position)
    assert.equal(codes.codeAt(position), code)
  }
  // Every character is equally frequent at each index: 351 ± 19 times.
  for (let index = 0; index < codeLength; index += 1) {
    for (const letter of alphabet) {
      const times = created.filter(({ code }) => code[index] === letter).length
      assert.ok(times > 200 && times < 520, `${letter} ${times} times at ${index}`)
    }
  }
  // By chance, a code shares 0.018 characters with the next one at each of its seven indexes.
  const common = created
    .slice(1)
    .reduce((sum, { code }, index) => sum + commonLetters(code, created[index]!.code), 0)
  assert.ok(Math.abs(common / many - codeLength / alphabet.length) < 0.02, String(common / many))
  const steps = created.slice(1).map(({ position }, index) => position - created[index]!.position)
  assert.ok(steps.filter((step) => step >= 1 && step <= 256).length >= many - 2)
  assert.ok(new Set(steps).size > 32)
})

function commonLetters(one: string, other: string): number {
  return [...one].filter((letter, index) => other[index] === letter).length
}

test('a jump and another process continue elsewhere', () => {
  const codes = createCodes(Buffer.alloc(16, 9))
  const before = codes.next().position
  codes.jumpToRandomPosition()
  assert.ok(Math.abs(codes.next().position - before) > 1_000)
  assert.ok(Math.abs(createCodes(Buffer.alloc(16, 9)).next().position - before) > 1_000)
})

test('positionOf returns undefined for text that is not a code', () => {
  const codes = createCodes(Buffer.alloc(16, 9))
  for (const text of ['', 'ab', '-abc', 'abc_', 'abc.def', 'x'.repeat(33), '短码短码短码短'])
    assert.equal(codes.positionOf(text), undefined, text)
  const chosen = ['abcdef', 'abcdefgh', 'abcdef0', 'Oabcdef', 'abc-efg', 'ABCDEF']
  const positions = chosen.map((text) => codes.positionOf(text)!)
  assert.ok(positions.every((position) => position < 0 && Number.isSafeInteger(position)))
  assert.equal(new Set(positions).size, chosen.length)
  const letter = fc.constantFrom(...alphabet)
  fc.assert(
    fc.property(fc.array(letter, { minLength: codeLength, maxLength: codeLength }), (letters) => {
      const code = letters.join('')
      assert.equal(codes.codeAt(codes.positionOf(code)!), code)
    }),
  )
})

onEachEngine('the key of the codes', (engine) => {
  test('is created once and differs between databases', async () => {
    const first: string[] = []
    for (let n = 0; n < 2; n += 1) {
      // Not a copy of the migrated fixture: copies share the key.
      const storage = await emptyStorage(engine)
      const db = storage.open()
      await migrate(db)
      first.push((await loadCodes(db)).codeAt(1))
      assert.equal((await loadCodes(db)).codeAt(1), first[n])
      await db.close()
      await storage.remove()
    }
    assert.notEqual(first[0], first[1])
  })
})
