// Parts of a message, phone numbers and template variables.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  bizIdOf,
  compareVariables,
  countParts,
  fillTemplate,
  isPhoneNumber,
  maxLengthForParts,
  parseTemplate,
  recordIdOf,
  wholeText,
} from './sms-text.ts'

test('parts at the documented lengths', () => {
  const cases = [
    [1, 1],
    [70, 1],
    [71, 2],
    [76, 2],
    [134, 2],
    [135, 3],
    [160, 3],
    [166, 3],
    [500, 8],
  ] as const
  for (const [length, parts] of cases) assert.equal(countParts(length), parts, String(length))
  assert.deepEqual([1, 2, 3].map(maxLengthForParts), [70, 134, 201])
})

test('an emoji counts twice', () => {
  assert.equal(wholeText('签名', '😀'.repeat(33)).length, 70)
  assert.equal(countParts(wholeText('签名', '😀'.repeat(33)).length), 1)
  assert.equal(countParts(wholeText('签名', '😀'.repeat(34)).length), 2)
})

test('numbers of the mainland and nothing else', () => {
  for (const good of [
    '13800138000',
    '19900000001',
    '16612345678',
    '17012345678',
    '19212345678',
    '14712345678',
  ]) {
    assert.ok(isPhoneNumber(good), good)
  }
  const bad = [
    '1380013800',
    '138001380000',
    '+8613800138000',
    '8613800138000',
    '12800138000',
    '15412345678',
    '17412345678',
    '16112345678',
    '19412345678',
    '14012345678',
    '1380013800a',
    '１３８００１３８０００',
    ' 13800138000',
    '13800138000\n',
    '',
  ]
  for (const one of bad) assert.ok(!isPhoneNumber(one), JSON.stringify(one))
})

test('variables in the order of their first appearance', () => {
  assert.deepEqual(parseTemplate('a${b}c${a}d${b}'), { variables: ['b', 'a'] })
  assert.deepEqual(parseTemplate('no variables, 5$ {x} $x'), { variables: [] })
  assert.deepEqual(parseTemplate(`\${_${'x'.repeat(31)}}`), { variables: [`_${'x'.repeat(31)}`] })
})

test('text that is not a variable name is refused, not ignored', () => {
  for (const content of [
    '${}',
    '${1a}',
    '${a b}',
    '${中文}',
    '${a',
    'x ${',
    '${__proto__}',
    '${constructor}',
    '${prototype}',
    `\${${'x'.repeat(33)}}`,
    '${a${b}}',
  ]) {
    assert.ok('problem' in parseTemplate(content), content)
  }
})

const name = fc.stringMatching(/^[a-z_][a-zA-Z0-9_]{0,6}$/).filter((one) => one !== '__proto__')

test('values are never read as template again', () => {
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), fc.string(), (names, value) => {
      const unique = [...new Set(names)]
      const content = unique.map((one) => `<\${${one}}>`).join('')
      // Each value looks like another variable of the same template.
      const values = new Map(unique.map((one) => [one, `\${${unique[0]}}${value}$&$1`]))
      const expected = unique.map((one) => `<${values.get(one)}>`).join('')
      assert.equal(fillTemplate(content, values), expected)
    }),
  )
})

test('missing and surplus are told apart for any names', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name), fc.uniqueArray(fc.string()), (wanted, given) => {
      const { missing, surplus } = compareVariables(wanted, new Map(given.map((one) => [one, 'x'])))
      assert.deepEqual(new Set(missing), new Set(wanted).difference(new Set(given)))
      assert.deepEqual(new Set(surplus), new Set(given).difference(new Set(wanted)))
    }),
  )
})

test('a serial number has 18 digits, grows, and leads back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 1 }), (id) => {
      const bizId = bizIdOf(id)
      assert.match(bizId, /^\d{18}$/)
      assert.equal(recordIdOf(bizId), id)
      assert.ok(bizIdOf(id + 1) > bizId)
    }),
  )
  for (const none of [
    '',
    '1',
    'abc',
    '1'.repeat(19),
    '100000000000000000',
    '999999999999999999',
    '1 0000000000000001',
  ]) {
    assert.equal(recordIdOf(none), undefined, none)
  }
})

test('100 kB of hostile text is read to its end', () => {
  assert.ok('problem' in parseTemplate('${'.repeat(50_000)))
  assert.deepEqual(parseTemplate('${a}'.repeat(25_000)), { variables: ['a'] })
  assert.equal(isPhoneNumber('1'.repeat(100_000)), false)
  assert.equal(recordIdOf('1'.repeat(100_000)), undefined)
})
