// API keys: form, checksum, mask.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { hashKey, formatKeyHint, formOfKey, generateApiKey } from './key.ts'

const secret = 'a secret of the installation'
/** Made before checksums were keyed. */
const plainKey = 'tg_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG32L9Jw'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

it('has the documented form and a valid checksum', () => {
  for (let i = 0; i < 200; i++) {
    const key = generateApiKey(secret)
    assert.match(key, /^tg_[0-9A-Za-z]{49}$/)
    assert.equal(formOfKey(key, secret), 'issued')
  }
})

it('is rejected after any single mistyped character', () => {
  const key = generateApiKey(secret)
  fc.assert(
    fc.property(
      fc.integer({ min: 3, max: key.length - 1 }),
      fc.constantFrom(...alphabet),
      (position, letter) => {
        const typed = key.slice(0, position) + letter + key.slice(position + 1)
        assert.equal(formOfKey(typed, secret), typed === key ? 'issued' : 'malformed')
      },
    ),
  )
})

it('rejects any other text', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 80 }), (text) => assert.equal(formOfKey(text, secret), 'malformed')),
  )
  assert.equal(formOfKey(`tg_${'a'.repeat(100_000)}`, secret), 'malformed')
  assert.equal(formOfKey(`${generateApiKey(secret)}\n`, secret), 'malformed')
})

it('is shown as its first and last characters', () => {
  const key = generateApiKey(secret)
  assert.equal(formatKeyHint(key), `${key.slice(0, 7)}••••••${key.slice(-4)}`)
  assert.match(hashKey(key), /^[0-9a-f]{64}$/)
})

it('is recognized as possible when it was made before checksums were keyed, and not in another installation', () => {
  assert.equal(formOfKey(plainKey, secret), 'possible')
  assert.equal(formOfKey(generateApiKey('another secret'), secret), 'malformed')
})
