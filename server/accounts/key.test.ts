// API keys: form, checksum, mask.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { hashKey, formatKeyHint, isWellFormedKey, generateApiKey } from './key.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

it('has the documented form and a valid checksum', () => {
  for (let i = 0; i < 200; i++) {
    const key = generateApiKey()
    assert.match(key, /^tg_[0-9A-Za-z]{49}$/)
    assert.ok(isWellFormedKey(key))
  }
})

it('is rejected after any single mistyped character', () => {
  const key = generateApiKey()
  fc.assert(
    fc.property(
      fc.integer({ min: 3, max: key.length - 1 }),
      fc.constantFrom(...alphabet),
      (position, letter) => {
        const typed = key.slice(0, position) + letter + key.slice(position + 1)
        assert.equal(isWellFormedKey(typed), typed === key)
      },
    ),
  )
})

it('rejects any other text', () => {
  fc.assert(fc.property(fc.string({ maxLength: 80 }), (text) => assert.equal(isWellFormedKey(text), false)))
  assert.equal(isWellFormedKey(`tg_${'a'.repeat(100_000)}`), false)
  assert.equal(isWellFormedKey(`${generateApiKey()}\n`), false)
})

it('is shown as its first and last characters', () => {
  const key = generateApiKey()
  assert.equal(formatKeyHint(key), `${key.slice(0, 7)}••••••${key.slice(-4)}`)
  assert.match(hashKey(key), /^[0-9a-f]{64}$/)
})
