import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alphabet, codeLength, isReserved, isUgly, looksLikeCode, makeCode } from './code.ts'

test('codes are seven characters that nobody misreads', () => {
  assert.equal(alphabet.length, 57)
  assert.equal(new Set(alphabet).size, 57)
  for (const misread of '0O1lI') assert.ok(!alphabet.includes(misread), misread)
  const seen = new Set<string>()
  const letters = new Set<string>()
  for (let i = 0; i < 5_000; i += 1) {
    const code = makeCode()
    assert.equal(code.length, codeLength)
    assert.ok(
      [...code].every((letter) => alphabet.includes(letter)),
      code,
    )
    assert.ok(!isUgly(code) && !isReserved(code), code)
    for (const letter of code) letters.add(letter)
    seen.add(code)
  }
  assert.equal(seen.size, 5_000)
  assert.equal(letters.size, alphabet.length)
})

test('ugly words are refused in any case and with digits for letters', () => {
  for (const code of [
    'FuCkabc',
    'xx5exyy',
    'porn234',
    'aShabiz',
    'tmd2345',
    'p3ni5ab',
    'aNa7SH7',
    'xna2i2x',
  ]) {
    assert.equal(isUgly(code), !['aNa7SH7', 'xna2i2x'].includes(code), code)
  }
  assert.ok(!isUgly('kQm2xRw'))
})

test('the names of our own paths are reserved', () => {
  for (const word of ['metrics', 'console', 'Metrics', 'openapi', 'receipts', 'b', 'api', 'docs', 'livez'])
    assert.ok(isReserved(word), word)
  assert.ok(!isReserved('kQm2xRw'))
})

test('only seven letters or digits look like a code', () => {
  assert.ok(looksLikeCode('/abcdefg', 1))
  assert.ok(looksLikeCode('/b/0OlI123', 3))
  for (const path of ['/abcdef', '/abc.efg', '/abcdef/', '/api/abc', '/中文中文中文中', '/abcdef%'])
    assert.ok(!looksLikeCode(path, 1), path)
})
