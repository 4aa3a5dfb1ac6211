// Variables of a template in the preview of a message.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findVariables, messageLength, splitTemplate } from './message.ts'

test('finds each variable once, in order of appearance', () => {
  assert.deepEqual(findVariables('${b} and ${a}, then ${b} again'), ['b', 'a'])
  assert.deepEqual(findVariables('${1a} ${} $code ${a-b}'), [])
  assert.deepEqual(findVariables(`\${${'x'.repeat(32)}} \${${'y'.repeat(33)}}`), ['x'.repeat(32)])
})

test('does not replace variables inside values', () => {
  const pieces = splitTemplate('code ${code}.', { code: '${other}' })
  assert.equal(pieces.map(({ text }) => text).join(''), 'code ${other}.')
  assert.deepEqual(findVariables('code ${code}.'), ['code'])
})

test('joins to the filled-in text for any value', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (before, value, after) => {
      // The surrounding text must not contain a variable.
      fc.pre(!/[$}{]/.test(before + after))
      const pieces = splitTemplate(`${before}\${v}${after}`, { v: value })
      assert.equal(pieces.map(({ text }) => text).join(''), before + value + after)
      assert.equal(messageLength('签名', pieces), 4 + before.length + value.length + after.length)
    }),
  )
})
