// Addresses in a text field, one per line.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDomainOrUrl, readLines } from './lines.ts'

test('keeps line numbers and skips empty lines', () => {
  const lines = readLines('example.com\r\n\n  shop.example.com/page  \nno domain')
  assert.deepEqual(
    lines.map(({ line, url, isValid }) => [line, url, isValid]),
    [
      [1, 'example.com', true],
      [3, 'shop.example.com/page', true],
      [4, 'no domain', false],
    ],
  )
})

test('finds repeated addresses in any spelling', () => {
  const lines = readLines(
    'Example.com\nhttp://example.com/\nexample.com/a\nhttps://example.com\nbad one\nbad one',
  )
  assert.deepEqual(
    lines.map(({ isRepeated }) => isRepeated),
    [false, true, false, false, false, true],
  )
})

test('accepts domains and http URLs only', () => {
  for (const valid of ['example.com', 'https://例子.中国/路径', 'http://a.b.example:8080/x?y=1']) {
    assert.ok(isDomainOrUrl(valid), valid)
  }
  for (const invalid of [
    '',
    'localhost',
    '127.0.0.1',
    '2130706433',
    'ftp://example.com',
    'http://u:p@example.com',
    'a..b',
  ]) {
    assert.ok(!isDomainOrUrl(invalid), invalid)
  }
})
