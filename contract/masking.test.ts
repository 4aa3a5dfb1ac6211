// The masks of names, ID numbers and phone numbers.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hidden, maskIdNumber, maskName, maskPhone, maskPhones } from './masking.ts'

void describe('masks', () => {
  it('keeps the first character of a name and hides its length', () => {
    assert.equal(maskName('张三'), '张*')
    assert.equal(maskName('欧阳娜娜'), '欧*')
    assert.equal(maskName('𠮷田'), '𠮷*')
    assert.equal(maskName('John Smith'), 'J*')
    assert.equal(maskName(' 李雷 '), '李*')
    assert.equal(maskName('张'), '*')
    assert.equal(maskName(''), '*')
  })

  it('keeps the area and the last four characters of an ID number', () => {
    assert.equal(maskIdNumber('11010519491231002X'), '110105********002X')
    assert.equal(maskIdNumber('110105'), hidden)
  })

  it('keeps three and four digits of a phone number', () => {
    assert.equal(maskPhone('13800138000'), '138****8000')
    assert.equal(maskPhone('+8613800138000'), hidden)
  })

  it('finds phone numbers in any text, also after an escape of JSON', () => {
    assert.equal(maskPhones('+8613800138000、13900139000'), '+86138****8000、139****9000')
    assert.equal(maskPhones(JSON.stringify('\n13800138000')), '"\\n138****8000"')
    assert.equal(maskPhones('202611150000000001'), '202611150000000001')
  })
})
