// The vectors of RFC 6238 and RFC 4226, and which codes are accepted.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { decodeBase32, findTotpStep, generateTotpSecret, stepAt, totpCode, totpUri } from './totp.ts'

const rfcSecret = Buffer.from('12345678901234567890')
const secret = 'AAAQEAYEAUDAOCAJBIFQYDIOB4IBCEQT'
const at = 1_767_323_045_000

it('computes the codes of RFC 6238', () => {
  for (const [seconds, code] of [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const)
    assert.equal(totpCode(rfcSecret, stepAt(seconds * 1000), 8), code)
})

it('computes the codes of RFC 4226', () => {
  const codes = '755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' ')
  for (const [counter, code] of codes.entries()) assert.equal(totpCode(rfcSecret, counter), code)
})

it('accepts the code of the present step and of one step before and after, and no other', () => {
  const step = stepAt(at)
  assert.equal(step, 58_910_768)
  const found = ['830672', '162976', '045236', '404026', '265409'].map((code) =>
    findTotpStep(secret, code, at),
  )
  assert.deepEqual(found, [undefined, step - 1, step, step + 1, undefined])
  for (const wrong of ['', '45236', ' 045236', '0452360', '０45236', '------'])
    assert.equal(findTotpStep(secret, wrong, at), undefined, wrong)
})

it('makes secrets of 160 bits that decode to the same bytes', () => {
  assert.equal(decodeBase32(secret).toString('hex'), '000102030405060708090a0b0c0d0e0f10111213')
  const made = generateTotpSecret()
  assert.match(made, /^[A-Z2-7]{32}$/)
  assert.notEqual(made, generateTotpSecret())
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (step) => {
      const code = totpCode(decodeBase32(made), step)
      assert.equal(findTotpStep(made, code, step * 30_000) !== undefined, true)
    }),
  )
})

it('names the issuer and the account in the URI', () => {
  assert.equal(
    totpUri('Tollgate', '张三@a b', secret),
    `otpauth://totp/Tollgate:%E5%BC%A0%E4%B8%89%40a%20b?secret=${secret}&issuer=Tollgate&algorithm=SHA1&digits=6&period=30`,
  )
})
