import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasRightCheckDigit } from './idcard.ts'

test('the check digit', () => {
  assert.ok(hasRightCheckDigit('11010519491231002X'))
  assert.ok(hasRightCheckDigit('11010519491231002x'))
  assert.ok(!hasRightCheckDigit('110105194912310021'))
  assert.ok(!hasRightCheckDigit('1101051949123100'))
})
