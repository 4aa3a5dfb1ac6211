// Which texts are short codes, and which are reserved or offensive.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alphabet, isReservedPath, isReserved, isOffensive, isOffensiveChoice, findCodeEnd } from './code.ts'

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

test('findCodeEnd accepts 3 to 32 letters, digits, _ and -, and no separator at an end', () => {
  assert.equal(findCodeEnd('/abcdefg', 1), 8)
  assert.equal(findCodeEnd('/b/0OlI123?a=b', 3), 10)
  assert.equal(findCodeEnd('/a-b', 1), 4)
  assert.equal(findCodeEnd(`/${'x'.repeat(32)}`, 1), 33)
  for (const path of [
    '/ab',
    `/${'x'.repeat(33)}`,
    '/-ab',
    '/ab_',
    '/abc.efg',
    '/abcdef/',
    '/api/abc',
    '/中文中文中文中',
    '/abcdef%',
    '/',
  ])
    assert.equal(findCodeEnd(path, 1), -1, path)
})

test('isOffensiveChoice leaves usual words alone', () => {
  for (const code of ['fuck-you', 'f-u-c-k', 'sh1t', 'sex', 'my-sex-shop', 'caonima666', 'xxx', 'SEX2026'])
    assert.ok(isOffensiveChoice(code), code)
  for (const code of [
    'document',
    'analytics-2026',
    'Sussex',
    'accumulate',
    'shitang',
    'summer_sale',
    'title-1',
  ])
    assert.ok(!isOffensiveChoice(code), code)
})
