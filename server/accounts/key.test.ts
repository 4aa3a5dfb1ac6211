import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { hashKey, hintOfKey, isWellFormedKey, makeKey } from './key.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

it('has the documented form and passes its own check', () => {
  for (let i = 0; i < 200; i++) {
    const key = makeKey()
    assert.match(key, /^tg_[0-9A-Za-z]{49}$/)
    assert.ok(isWellFormedKey(key))
  }
})

it('is refused after any single mistyped character', () => {
  const key = makeKey()
  fc.assert(
    fc.property(
      fc.integer({ min: 3, max: key.length - 1 }),
      fc.constantFrom(...alphabet),
      (place, letter) => {
        const typed = key.slice(0, place) + letter + key.slice(place + 1)
        assert.equal(isWellFormedKey(typed), typed === key)
      },
    ),
  )
})

it('takes no other text for a key', () => {
  fc.assert(fc.property(fc.string({ maxLength: 80 }), (text) => assert.equal(isWellFormedKey(text), false)))
  assert.equal(isWellFormedKey(`tg_${'a'.repeat(100_000)}`), false)
  assert.equal(isWellFormedKey(`${makeKey()}\n`), false)
})

it('shows only its ends afterwards', () => {
  const key = makeKey()
  assert.equal(hintOfKey(key), `${key.slice(0, 7)}••••••${key.slice(-4)}`)
  assert.match(hashKey(key), /^[0-9a-f]{64}$/)
})
