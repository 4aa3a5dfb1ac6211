import assert from 'node:assert/strict'
import { test } from 'node:test'
import { looksLikeAddress, readLines } from './lines.ts'

test('lines keep their number, empty ones are skipped', () => {
  const lines = readLines('example.com\r\n\n  shop.example.com/page  \nno domain')
  assert.deepEqual(
    lines.map(({ line, url, looksRight }) => [line, url, looksRight]),
    [
      [1, 'example.com', true],
      [3, 'shop.example.com/page', true],
      [4, 'no domain', false],
    ],
  )
})

test('what looks like an address', () => {
  for (const good of ['example.com', 'https://例子.中国/路径', 'http://a.b.example:8080/x?y=1']) {
    assert.ok(looksLikeAddress(good), good)
  }
  for (const bad of [
    '',
    'localhost',
    '127.0.0.1',
    '2130706433',
    'ftp://example.com',
    'http://u:p@example.com',
    'a..b',
  ]) {
    assert.ok(!looksLikeAddress(bad), bad)
  }
})
