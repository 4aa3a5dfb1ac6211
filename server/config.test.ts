import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { ConfigError, publicUrlOf, readConfig, settings } from './config.ts'

it('has a default for everything', () => {
  const config = readConfig({})
  assert.equal(config.PORT, 3000)
  assert.deepEqual(config.RATE_LIMIT, { perSecond: 100, burst: 200 })
  assert.deepEqual(config.SMS_GATEWAYS, ['sandbox'])
  assert.equal(config.PRICES.generate, 1)
})

it('reads what is set', () => {
  const config = readConfig({
    RATE_LIMIT: '5, 10',
    SMS_NUMBER_LIMITS: '1/m,5/h,10/d',
    TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    PRICES: 'sms_part=3',
    SMS_GATEWAYS: 'off',
    HOST: '  0.0.0.0 ',
    LOG_LEVEL: '',
  })
  assert.deepEqual(config.RATE_LIMIT, { perSecond: 5, burst: 10 })
  assert.deepEqual(config.SMS_NUMBER_LIMITS, [
    { count: 1, window: 'm' },
    { count: 5, window: 'h' },
    { count: 10, window: 'd' },
  ])
  assert.deepEqual(config.TRUSTED_PROXIES, ['10.0.0.0/8', '::1'])
  assert.deepEqual([config.PRICES.sms_part, config.PRICES.generate], [3, 1])
  assert.deepEqual(config.SMS_GATEWAYS, [])
  assert.equal(config.HOST, '0.0.0.0')
  assert.equal(config.LOG_LEVEL, 'info')
})

it('names each wrong setting once, and never the value of a secret', () => {
  const wrong = {
    PORT: '-1',
    SECRET_KEY: 'too short a secret',
    RATE_LIMIT: '0,5',
    SMS_NUMBER_LIMITS: '5/w',
    TRUSTED_PROXIES: '10.0.0.0/33',
    PRICES: 'gold=1',
    DOMAIN_JUMP_URL: 'https://jump.example/',
    DOMAIN_CANARY_GOOD: 'good.example',
    SMS_GATEWAYS: 'sandbox,sandbox',
  }
  try {
    readConfig(wrong)
    assert.fail('nothing was found')
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    assert.equal(error.problems.length, Object.keys(wrong).length)
    for (const name of Object.keys(wrong)) assert.equal(error.message.split(name).length - 1 >= 1, true, name)
    assert.equal(error.message.includes('too short a secret'), false)
  }
})

it('wants a gateway or off, and a public address that links can begin with', () => {
  for (const wrong of [
    { SMS_GATEWAYS: ',' },
    { PUBLIC_URL: 'https://api.example.com/?from=mail' },
    { PUBLIC_URL: 'https://api.example.com/#top' },
    { PUBLIC_URL: 'https://me:word@api.example.com' },
  ]) {
    assert.throws(() => readConfig(wrong), ConfigError, JSON.stringify(wrong))
  }
})

it('knows where people reach it', () => {
  assert.equal(publicUrlOf(readConfig({})), 'http://127.0.0.1:3000')
  assert.equal(publicUrlOf(readConfig({ HOST: '::1', PORT: '81' })), 'http://[::1]:81')
  assert.equal(publicUrlOf(readConfig({ PUBLIC_URL: 'https://example.com/t/' })), 'https://example.com/t')
})

it('takes any text for any setting without falling over', () => {
  const names = Object.keys(settings)
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.string(), (name, value) => {
      try {
        readConfig({ [name]: value })
      } catch (error) {
        assert.ok(error instanceof ConfigError)
      }
    }),
    { numRuns: 500 },
  )
})

it('keeps records for ever, or for a least number of days', () => {
  for (const [name, least] of [
    ['LEDGER_KEEP_DAYS', 400],
    ['SMS_RECORD_DAYS', 150],
    ['AUDIT_KEEP_DAYS', 180],
  ] as const) {
    assert.equal(readConfig({})[name], 0)
    assert.equal(readConfig({ [name]: '0' })[name], 0)
    assert.equal(readConfig({ [name]: String(least) })[name], least)
    for (const wrong of ['1', String(least - 1), '-1', '1e3', '123456']) {
      assert.throws(() => readConfig({ [name]: wrong }), ConfigError, `${name}=${wrong}`)
    }
  }
})
