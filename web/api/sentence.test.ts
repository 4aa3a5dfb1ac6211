// Messages of the service as sentences.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asSentence } from './sentence.ts'

test('English messages begin with a capital letter, names of parameters and Chinese stay', () => {
  assert.equal(asSentence('the user name is taken'), 'The user name is taken')
  assert.equal(asSentence('target_url is missing'), 'target_url is missing')
  assert.equal(asSentence('domain 不是本账户已验证的域名'), 'domain 不是本账户已验证的域名')
  assert.equal(asSentence('用户名已被使用'), '用户名已被使用')
})
