// Messages of a batch are priced by lengths: the same as by their composed texts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTemplate } from '../../../contract/sms-text.ts'
import type { MessageFrame } from '../compose.ts'
import { createPricing } from './pricing.ts'

function frameOf(content: string, signName = '签名'): MessageFrame {
  const parsed = parseTemplate(content)
  assert.ok('variables' in parsed)
  const { variables } = parsed
  const template = {
    isOwn: true,
    code: 'C',
    type: 'notification',
    content,
    variables,
    status: '审核通过',
  } as const
  return { signName, template: { ...template, gatewayCodes: {} } }
}

const content = '您好${name}，验证码${code}，请勿把${code}告诉他人'

test('values of a message give the price and the reasons of its whole text', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ minLength: 30, maxLength: 300 }),
    fc.constant('${code}'),
  )
  const names = fc.constantFrom('name', 'code', 'kode')
  fc.assert(
    fc.property(fc.dictionary(names, text), fc.integer({ min: 0, max: 5 }), (values, partPrice) => {
      const frame = frameOf(content)
      // A map comes from shared values; its text is composed.
      const composed = createPricing(frame, partPrice)(new Map(Object.entries(values)))
      assert.deepEqual(createPricing(frame, partPrice)(values), composed)
    }),
  )
})

test('prices numbers, JSON texts and templates without variables', () => {
  const price = createPricing(frameOf(content), 2)
  const params = '{"name":"\\"张\\"","code":"12"}'
  assert.deepEqual(price({ code: 12, name: '"张"' }), { params, parts: 1, cost: 2 })
  assert.deepEqual(price(params), { params, parts: 1, cost: 2 })
  assert.deepEqual(createPricing(frameOf('停机通知'), 1)(undefined), { params: '{}', parts: 1, cost: 1 })
  assert.deepEqual(createPricing(frameOf('停机通知'), 1)({}), { params: '{}', parts: 1, cost: 1 })
  const tooLong = price({ name: 'x'.repeat(300), code: 'x'.repeat(100) })
  assert.ok('reason' in tooLong && tooLong.reason.zh.includes('超过 500'))
  const broken = price({ name: '\ud800', code: '1' })
  assert.ok('reason' in broken && broken.reason.zh.includes('name'))
})
