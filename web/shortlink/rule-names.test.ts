// The words of the rules of a link, in both languages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeConditions } from './rule-names.ts'

test('a rule is one sentence in both languages', () => {
  const rule = {
    conditions: [
      { name: 'os' as const, values: ['ios', 'android'] },
      { name: 'country' as const, values: ['CN', 'US', 'JP'] },
    ],
  }
  assert.equal(describeConditions(rule, 'zh'), '系统为 iOS 或 Android，且国家或地区为中国、美国或日本')
  assert.equal(
    describeConditions(rule, 'en'),
    'system is iOS or Android and country or region is China or United States or Japan',
  )
  assert.equal(
    describeConditions({ conditions: [{ name: 'app', values: ['wechat'] }] }, 'zh'),
    '打开方式为微信',
  )
  assert.equal(describeConditions({ conditions: [{ name: 'app', values: [] }] }, 'zh'), '')
})
