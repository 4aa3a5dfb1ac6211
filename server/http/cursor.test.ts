// Which cursors are accepted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCursors } from './cursor.ts'
import { AppError } from './errors.ts'

const cursors = createCursors('a secret of thirty-two characters or more')
const isInvalid = (error: unknown) => error instanceof AppError && error.code === 1002

test('a cursor is valid for its own account and query only', () => {
  const cursor = cursors.write([1, 'list', 'tag', undefined], [1_700_000_000_000, 42])
  assert.deepEqual(cursors.read([1, 'list', 'tag', undefined], cursor), [1_700_000_000_000, 42])
  assert.equal(cursors.read([1], undefined), undefined)
  for (const query of [
    [2, 'list', 'tag', undefined],
    [1, 'list', 'other', undefined],
    [1, 'list', 'tag', ''],
    [1, 'list'],
  ]) {
    assert.throws(() => cursors.read(query, cursor), isInvalid)
  }
})

test('anything else is no cursor', () => {
  const cursor = cursors.write([1], [5])
  const changed = Buffer.from(cursor, 'base64url')
  changed[changed.length - 1]! ^= 1
  const others = ['x', '1', 'AAAAAAAAAAAAAAAAAAAA', `${cursor}AA`, 'a'.repeat(5_000), '中文']
  for (const text of [...others, changed.toString('base64url')]) {
    assert.throws(() => cursors.read([1], text), isInvalid, text)
  }
})

test('a changed cursor with the bytes of a valid one is no cursor', () => {
  for (const position of [[5], [50], [500]]) {
    const cursor = cursors.write([1], position)
    const standard = Buffer.from(cursor, 'base64url').toString('base64')
    const changed = [
      `${cursor}=`,
      `${cursor}!`,
      `${cursor} x`,
      `${cursor}x`,
      `${cursor.slice(0, 5)}.${cursor.slice(5)}`,
    ]
    for (const text of [...changed, ...(standard === cursor ? [] : [standard])]) {
      assert.throws(() => cursors.read([1], text), isInvalid, text)
    }
  }
})
