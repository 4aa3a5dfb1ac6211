import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alphabet, isOwnPath, isReserved, isUgly, looksLikeCode } from './code.ts'

test('the alphabet has nothing that is misread', () => {
  assert.equal(alphabet.length, 57)
  assert.equal(new Set(alphabet).size, 57)
  for (const misread of '0O1lI') assert.ok(!alphabet.includes(misread), misread)
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
  assert.ok(isOwnPath('metrics') && !isOwnPath('Metrics') && !isOwnPath('kQm2xRw'))
})

test('only seven letters or digits look like a code', () => {
  assert.ok(looksLikeCode('/abcdefg', 1))
  assert.ok(looksLikeCode('/b/0OlI123', 3))
  for (const path of ['/abcdef', '/abc.efg', '/abcdef/', '/api/abc', '/中文中文中文中', '/abcdef%'])
    assert.ok(!looksLikeCode(path, 1), path)
})
