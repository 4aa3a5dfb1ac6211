// `extra`: details from gateways in one format, completed from the ID number.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { extraKeys } from '../../contract/identity.ts'
import { buildExtra } from './extra.ts'

const number = '11010519491231002X'
const today = '2026-03-01'
const fromNumber = { sex: '女', birthday: '1949-12-31', age: 76, province: '北京市' }

describe('extra of a match', () => {
  it('comes from the number without details', () => {
    assert.deepEqual(buildExtra({}, number, today), fromNumber)
  })

  it('contains the details from the gateway', () => {
    const given = {
      sex: '男',
      birthday: '1990-02-28',
      address: '广东省深圳市南山区',
      age: 36,
      nation: '汉',
      province: '广东',
      city: '深圳市',
      district: '南山区',
    }
    assert.deepEqual(buildExtra(given, number, today), given)
  })

  for (const [value, sex] of [
    ['男', '男'],
    ['女', '女'],
    ['M', '男'],
    ['F', '女'],
    ['f', '女'],
    [1, '男'],
    [2, '女'],
    ['1', '男'],
    ['2', '女'],
  ] as const) {
    it(`sex ${JSON.stringify(value)} is ${sex}`, () =>
      assert.equal(buildExtra({ sex: value }, number, today).sex, sex))
  }

  for (const value of [
    '19900228',
    19_900_228,
    '1990-02-28',
    '1990/2/28',
    '1990.02.28',
    '1990年2月28日',
    '1990年02月28日',
    '1990-02-28 00:00:00',
    '1990-02-28T00:00:00',
    ' 19900228 ',
  ]) {
    it(`birthday ${JSON.stringify(value)}`, () =>
      assert.equal(buildExtra({ birthday: value }, number, today).birthday, '1990-02-28'))
  }

  it('ignores unreadable values', () => {
    const strange = {
      sex: 0,
      birthday: '19900230',
      age: 'many',
      province: '  ',
      city: null,
      address: ['x'],
      nation: {},
      district: 'x'.repeat(201),
    }
    assert.deepEqual(buildExtra(strange, number, today), fromNumber)
  })

  it('ages are whole numbers', () => {
    assert.equal(buildExtra({ age: '36' }, number, today).age, 36)
    for (const age of [-1, 1.5, 151, '36.5', Infinity]) {
      assert.equal(buildExtra({ age }, number, today).age, 76)
    }
  })

  it('never has other keys or types', () => {
    const facts = fc.dictionary(fc.constantFrom(...extraKeys, 'idCard', 'name'), fc.anything())
    fc.assert(
      fc.property(facts, (given) => {
        const extra = buildExtra(given, number, today)
        for (const [key, value] of Object.entries(extra)) {
          assert.ok((extraKeys as readonly string[]).includes(key))
          if (key === 'age') assert.ok(Number.isInteger(value))
          else assert.ok(typeof value === 'string' && value.length > 0 && value.length <= 200)
        }
        assert.match(extra.birthday ?? '', /^\d{4}-\d\d-\d\d$/)
        assert.match(extra.sex ?? '', /^[男女]$/)
      }),
    )
  })
})
