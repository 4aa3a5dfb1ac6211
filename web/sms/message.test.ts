import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lengthOf, partsOf, piecesOf, roomOf, variablesOf } from './message.ts'

test('variables come once each, in order of appearance', () => {
  assert.deepEqual(variablesOf('${b} and ${a}, then ${b} again'), ['b', 'a'])
  assert.deepEqual(variablesOf('${1a} ${} $code ${a-b}'), [])
  assert.deepEqual(variablesOf(`\${${'x'.repeat(32)}} \${${'y'.repeat(33)}}`), ['x'.repeat(32)])
})

test('parts are billed as the interface says', () => {
  const billed: readonly (readonly [number, number])[] = [
    [1, 1],
    [70, 1],
    [71, 2],
    [76, 2],
    [134, 2],
    [135, 3],
    [166, 3],
  ]
  for (const [length, parts] of billed) assert.equal(partsOf(length), parts, `length ${length}`)
  assert.equal(roomOf(64), 70)
  assert.equal(roomOf(71), 134)
})

test('values are text, never read as template again', () => {
  const pieces = piecesOf('code ${code}.', { code: '${other}' })
  assert.equal(pieces.map(({ text }) => text).join(''), 'code ${other}.')
  assert.deepEqual(variablesOf('code ${code}.'), ['code'])
})

test('pieces put together are the text with its values, whatever they are', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (before, value, after) => {
      // The neighbours must not make a variable of their own.
      fc.pre(!/[$}{]/.test(before + after))
      const pieces = piecesOf(`${before}\${v}${after}`, { v: value })
      assert.equal(pieces.map(({ text }) => text).join(''), before + value + after)
      assert.equal(lengthOf('签名', pieces), 4 + before.length + value.length + after.length)
    }),
  )
})
