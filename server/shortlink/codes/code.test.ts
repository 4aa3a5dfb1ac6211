import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alphabet, isReservedPath, isReserved, isOffensive, looksLikeCode } from './code.ts'

test('the alphabet has no characters that are easy to confuse', () => {
  assert.equal(alphabet.length, 57)
  assert.equal(new Set(alphabet).size, 57)
  for (const confusing of '0O1lI') assert.ok(!alphabet.includes(confusing), confusing)
})

test('isOffensive finds words in any case and with digits for letters', () => {
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
    assert.equal(isOffensive(code), !['aNa7SH7', 'xna2i2x'].includes(code), code)
  }
  assert.ok(!isOffensive('kQm2xRw'))
})

test('isReserved knows the paths of the service', () => {
  for (const word of ['metrics', 'console', 'Metrics', 'openapi', 'receipts', 'b', 'api', 'docs', 'livez'])
    assert.ok(isReserved(word), word)
  assert.ok(!isReserved('kQm2xRw'))
  assert.ok(isReservedPath('metrics') && !isReservedPath('Metrics') && !isReservedPath('kQm2xRw'))
})

test('looksLikeCode accepts only seven letters or digits', () => {
  assert.ok(looksLikeCode('/abcdefg', 1))
  assert.ok(looksLikeCode('/b/0OlI123', 3))
  for (const path of ['/abcdef', '/abc.efg', '/abcdef/', '/api/abc', '/中文中文中文中', '/abcdef%'])
    assert.ok(!looksLikeCode(path, 1), path)
})
