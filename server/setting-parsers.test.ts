// Values that would only fail later: when the service connects, or sends its first mail.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ConfigError, readConfig } from './config.ts'

it('rejects URLs whose user, password or path the client library cannot read', () => {
  const mail = (url: string) => ({ MAIL_URL: url, MAIL_FROM: 'a@example.com' })
  for (const [environment, problem] of [
    [{ REDIS_URL: 'redis://user:50%zz@127.0.0.1' }, /^REDIS_URL .*%25/],
    [{ REDIS_URL: 'redis://50%:word@127.0.0.1' }, /^REDIS_URL .*%25/],
    [{ REDIS_URL: 'redis://127.0.0.1/cache' }, /^REDIS_URL .*number/],
    [{ REDIS_URL: 'redis://127.0.0.1/1.5' }, /^REDIS_URL .*number/],
    [mail('smtp://user:50%zz@mail.example.com'), /^MAIL_URL .*%25/],
  ] as const) {
    const [found, ...more] = problemsOf(environment)
    assert.match(found ?? '', problem)
    assert.deepEqual(more, [])
    assert.doesNotMatch(found!, /50%/)
  }
  for (const url of [
    'redis://127.0.0.1',
    'rediss://u:50%25@[::1]:6380/',
    'redis://:word@cache.internal/15',
  ]) {
    assert.equal(readConfig({ REDIS_URL: url }).REDIS_URL, url)
  }
  assert.deepEqual(problemsOf(mail('smtps://a%40example.com:50%25@mail.example.com:465')), [])
})

it('wants a sender with a mail address', () => {
  for (const sender of [
    'tollgate',
    '网关',
    'Tollgate <noreply>',
    'a@example.com>',
    'a@b@example.com',
    '@',
    'a@ b',
  ]) {
    assert.match(problemsOf({ MAIL_FROM: sender }).join(), /^MAIL_FROM .*mail address/, sender)
  }
  for (const sender of [
    'a@example.com',
    '平台 <a@example.com>',
    '"Acme, Inc." <a+b@mail.example.com>',
    '<root@localhost>',
  ]) {
    assert.equal(readConfig({ MAIL_FROM: sender }).MAIL_FROM, sender)
  }
})

it('names what is unknown: a payment method is no gateway', () => {
  assert.match(
    problemsOf({ PAYMENTS: 'paypal' }).join(),
    /^PAYMENTS 未知支付方式 paypal，.*unknown payment method$/,
  )
  assert.match(
    problemsOf({ SMS_GATEWAYS: 'pigeon' }).join(),
    /^SMS_GATEWAYS 未知网关 pigeon，.*unknown gateway$/,
  )
  assert.match(problemsOf({ PAYMENTS: ',' }).join(), /^PAYMENTS 未指定支付方式/)
  assert.match(problemsOf({ WECHATPAY_PUBLIC_KEY_ID: ',' }).join(), /^WECHATPAY_PUBLIC_KEY_ID 只能含/)
})

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
}
