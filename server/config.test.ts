// Settings: defaults, parsing, and one message for everything that is wrong.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { ConfigError, listConfigWarnings, publicUrlOf, readConfig, settings } from './config.ts'
import { enabledProviders } from './payments/settings.ts'

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
    SECRET_KEY: '',
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
  assert.equal(config.SECRET_KEY, undefined)
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
    { PUBLIC_URL: 'https://api.example.com/sub' },
    { PUBLIC_URL: 'https://api.example.com/sub/' },
    { PUBLIC_URL: 'https:api.example.com' },
    { PUBLIC_URL: 'api.example.com' },
    { PUBLIC_URL: 'ftp://api.example.com' },
    { PUBLIC_URL: 'https://api.example.com:99999' },
  ]) {
    assert.throws(() => readConfig(wrong), ConfigError, JSON.stringify(wrong))
  }
})

it('knows where people reach it', () => {
  assert.equal(publicUrlOf(readConfig({})), 'http://127.0.0.1:3000')
  assert.equal(publicUrlOf(readConfig({ HOST: '::1', PORT: '81' })), 'http://[::1]:81')
  assert.equal(publicUrlOf(readConfig({ PUBLIC_URL: 'HTTPS://Example.com:443/' })), 'https://example.com')
})

it('takes any text for any setting without falling over', () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(settings)), fc.string(), (name, value) => {
      try {
        readConfig({ [name]: value })
      } catch (error) {
        assert.ok(error instanceof ConfigError)
      }
    }),
    { numRuns: 500 },
  )
})

it('keeps records forever, or for a minimum number of days', () => {
  for (const [name, min] of [
    ['LEDGER_KEEP_DAYS', 400],
    ['SMS_RECORD_DAYS', 150],
    ['AUDIT_KEEP_DAYS', 180],
  ] as const) {
    assert.equal(readConfig({})[name], 0)
    assert.equal(readConfig({ [name]: '0' })[name], 0)
    assert.equal(readConfig({ [name]: String(min) })[name], min)
    for (const wrong of ['1', String(min - 1), '-1', '1e3', '123456']) {
      assert.throws(() => readConfig({ [name]: wrong }), ConfigError, `${name}=${wrong}`)
    }
  }
})

function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
}

const names = Object.keys(settings) as (keyof typeof settings)[]

it('an empty or blank value is an error if the setting has a default, and means "not set" otherwise', () => {
  for (const name of names) {
    const { fallback } = settings[name] as { fallback: unknown }
    const hasDefault = !['', '[]', undefined].includes(JSON.stringify(fallback)?.replaceAll('"', ''))
    for (const value of ['', '  ', '\t']) {
      const problems = problemsOf({ [name]: value })
      assert.equal(
        problems.length,
        hasDefault ? 1 : 0,
        `${name}=${JSON.stringify(value)}: ${problems.join()}`,
      )
      if (hasDefault) assert.match(problems[0]!, new RegExp(`^${name} .*empty`))
      else assert.deepEqual(readConfig({ [name]: value })[name], fallback)
    }
  }
  const all = problemsOf(Object.fromEntries(names.map((name) => [name, ''])))
  assert.ok(all.length > 30, 'all are named at once')
})

it('rejects control characters, and values far longer than any real one', () => {
  for (const name of names) {
    assert.notDeepEqual(problemsOf({ [name]: `x\u0000y` }), [], name)
    assert.notDeepEqual(problemsOf({ [name]: 'x'.repeat(100_000) }), [], name)
    if (name !== 'IDENTITY_MARKET_SHAPE') {
      assert.notDeepEqual(problemsOf({ [name]: 'https://a.example/\nb' }), [], name)
    }
  }
})

it('rejects numbers that are negative, huge, fractions or words', () => {
  const numbers = names.filter(
    (name) => typeof (settings[name] as { fallback: unknown }).fallback === 'number',
  )
  assert.ok(numbers.length >= 15)
  for (const name of numbers) {
    for (const value of [
      '-1',
      '1e3',
      '0x10',
      '1.5',
      '+1',
      '99999999999',
      '9'.repeat(400),
      'NaN',
      'many',
      '1 2',
      '１',
    ]) {
      assert.equal(problemsOf({ [name]: value }).length, 1, `${name}=${value}`)
    }
  }
})

it('rejects lists without an item, items twice, and wrong addresses', () => {
  for (const environment of [
    { DOMAIN_JUMP_BLOCKED: ',' },
    { DOMAIN_JUMP_WARNING_MARKERS: ' , ' },
    { TRUSTED_PROXIES: ',' },
    { SMS_NUMBER_LIMITS: ',' },
    { PRICES: ',' },
    { PRICES: 'sms_part=1,sms_part=2' },
    { PRICES: 'sms_part=-1' },
    { PRICES: 'sms_part=1000001' },
    { SMS_NUMBER_LIMITS: '0/m' },
    { RATE_LIMIT: '-1,5' },
    { RATE_LIMIT: '100' },
    { HOST: 'two words' },
    { HOST: 'http://0.0.0.0' },
    { HOST: '127.0.0.1:3000' },
    { REDIS_URL: 'http://127.0.0.1' },
    { REDIS_URL: 'redis:127.0.0.1' },
    { SMS_HTTP_URL: 'https://a b.example' },
    { ALIYUN_SMS_ENDPOINT: 'http:/x' },
    { DOMAIN_JUMP_USER_AGENT: '浏览器' },
    { TENCENT_REGION: '广州' },
    { SMS_RECEIPT_SECRET: 'with/a/slash/inside' },
    { SMS_RECEIPT_SECRET: 'x'.repeat(300) },
    { PORT: '9464', METRICS_PORT: '9464' },
  ]) {
    assert.equal(problemsOf(environment).length, 1, JSON.stringify(environment))
  }
})

const merchant = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

describe('payments', () => {
  const vendor = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  })
  const alipay = {
    PAYMENTS: 'alipay',
    ALIPAY_APP_ID: '2021000000000001',
    ALIPAY_PRIVATE_KEY: merchant.privateKey,
    ALIPAY_PUBLIC_KEY: vendor.publicKey,
  }
  const bare = (pem: string) => pem.replaceAll(/-----[^-]+-----|\s/g, '')

  it('are the sandbox while every gateway is the sandbox, else none', () => {
    assert.deepEqual(enabledProviders(readConfig({})), ['sandbox'])
    const real = { DOMAIN_GATEWAYS: 'jump' }
    assert.deepEqual(enabledProviders(readConfig(real)), [])
    assert.deepEqual(enabledProviders(readConfig({ PAYMENTS: 'transfer,sandbox' })), ['transfer', 'sandbox'])
    assert.deepEqual(enabledProviders(readConfig({ PAYMENTS: 'off' })), [])
    assert.match(problemsOf({ ...real, PAYMENTS: 'sandbox' }).join(), /PAYMENTS=sandbox/)
    assert.match(problemsOf({ ...alipay, PAYMENTS: 'alipay,sandbox' }).join(), /PAYMENTS .*alipay/)
    assert.match(problemsOf({ PAYMENTS: 'paypal' }).join(), /PAYMENTS .*paypal/)
  })

  it('name each missing or empty secret of a provider', () => {
    for (const [provider, count] of [
      ['alipay', 3],
      ['wechatpay', 7],
      ['stripe', 2],
    ] as const) {
      assert.equal(problemsOf({ PAYMENTS: provider }).length, count, provider)
    }
    assert.match(
      problemsOf({ PAYMENTS: 'stripe', STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: '' }).join(),
      /^STRIPE_WEBHOOK_SECRET/,
    )
  })

  it('take keys as PEM or bare base64, PKCS#8 or PKCS#1, and no others', () => {
    for (const key of [merchant.privateKey, bare(merchant.privateKey), bare(vendor.privateKey)]) {
      readConfig({ ...alipay, ALIPAY_PRIVATE_KEY: key, ALIPAY_PUBLIC_KEY: otherKey })
    }
    readConfig({ ...alipay, ALIPAY_PRIVATE_KEY: merchant.privateKey.trim().replaceAll('\n', '\\n') })
    assert.match(problemsOf({ ...alipay, ALIPAY_PRIVATE_KEY: 'MIIE' }).join(), /^ALIPAY_PRIVATE_KEY/)
    assert.match(problemsOf({ ...alipay, ALIPAY_PUBLIC_KEY: merchant.publicKey }).join(), /ALIPAY_PUBLIC_KEY/)
    assert.match(problemsOf({ WECHATPAY_API_V3_KEY: 'short' }).join(), /WECHATPAY_API_V3_KEY/)
  })

  it('take several public keys of WeChat Pay, each with its ID', () => {
    const wechatpay = {
      PAYMENTS: 'wechatpay',
      WECHATPAY_MCH_ID: '1900000001',
      WECHATPAY_APP_ID: 'wx1',
      WECHATPAY_SERIAL: '444F',
      WECHATPAY_PRIVATE_KEY: merchant.privateKey,
      WECHATPAY_API_V3_KEY: '0123456789abcdef0123456789ABCDEF',
      WECHATPAY_PUBLIC_KEY_ID: 'PUB_KEY_ID_1, PUB_KEY_ID_2',
      WECHATPAY_PUBLIC_KEY: `${vendor.publicKey},${otherKey}`,
    }
    readConfig(wechatpay)
    for (const [changed, problem] of [
      [{ WECHATPAY_PUBLIC_KEY: vendor.publicKey }, /same number/],
      [{ WECHATPAY_PUBLIC_KEY_ID: 'PUB_KEY_ID_1' }, /same number/],
      [{ WECHATPAY_PUBLIC_KEY_ID: 'PUB_KEY_ID_1,PUB_KEY_ID_1' }, /^WECHATPAY_PUBLIC_KEY_ID .*twice/],
      [{ WECHATPAY_PUBLIC_KEY_ID: 'PUB_KEY_ID_1,' }, /^WECHATPAY_PUBLIC_KEY_ID /],
      [{ WECHATPAY_PUBLIC_KEY: `${vendor.publicKey},MIIE` }, /^WECHATPAY_PUBLIC_KEY /],
      [{ WECHATPAY_PUBLIC_KEY: `${vendor.publicKey},` }, /^WECHATPAY_PUBLIC_KEY /],
    ] as const) {
      assert.match(problemsOf({ ...wechatpay, ...changed })[0] ?? '', problem)
    }
  })
  const otherKey = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).publicKey

  it('reject a schedule that is not ascending seconds, and a wrong lifetime', () => {
    for (const text of ['0', '5,5', '30,5', 'x', '5,', '-1', '1.5', '9999999']) {
      assert.match(problemsOf({ PAYMENT_POLL_S: text }).join(), /^PAYMENT_POLL_S/, text)
    }
    for (const text of ['0', '-1', 'x', '604801']) {
      assert.match(problemsOf({ ORDER_TTL_S: text }).join(), /^ORDER_TTL_S/, text)
    }
  })
})

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-secrets-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string, content: string) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }
  const secret = 'a-secret-of-more-than-thirty-two-characters'

  it('is read for every secret setting, without the newline at its end', () => {
    const values: Readonly<Record<string, string>> = {
      DATABASE_URL: 'postgres://tollgate:word@127.0.0.1/tollgate',
      DATABASE_DIRECT_URL: 'postgres://tollgate:word@127.0.0.1/tollgate',
      MAIL_URL: 'smtps://user:word@127.0.0.1',
      REDIS_URL: 'redis://:word@127.0.0.1',
      SMS_RECEIPT_SECRET: 'a-secret-for-receipts',
      ALIPAY_PRIVATE_KEY: merchant.privateKey.trim(),
      ALIPAY_PUBLIC_KEY: merchant.publicKey.trim(),
      WECHATPAY_PRIVATE_KEY: merchant.privateKey.trim(),
      WECHATPAY_PUBLIC_KEY: merchant.publicKey.trim(),
      WECHATPAY_API_V3_KEY: '0123456789abcdef0123456789ABCDEF',
    }
    const secrets = names.filter((name) => settings[name].secret)
    assert.ok(secrets.length >= 8)
    for (const name of secrets) {
      const value = values[name] ?? secret
      assert.equal(
        readConfig({ MAIL_FROM: 'a@example.com', [`${name}_FILE`]: file(name, `${value}\n`) })[name],
        value,
        name,
      )
    }
    assert.equal(readConfig({ SECRET_KEY: '', SECRET_KEY_FILE: file('key', secret) }).SECRET_KEY, secret)
  })

  it('is an error together with the setting itself, if the file is missing, empty or too long, or its value is wrong', () => {
    const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
      [{ SECRET_KEY: secret, SECRET_KEY_FILE: file('both', secret) }, /SECRET_KEY .*SECRET_KEY_FILE/],
      [{ SECRET_KEY_FILE: join(folder, 'missing') }, /SECRET_KEY_FILE .*ENOENT/],
      [{ SECRET_KEY_FILE: folder }, /SECRET_KEY_FILE .*EISDIR/],
      [{ SECRET_KEY_FILE: file('blank', ' \n') }, /SECRET_KEY_FILE .*empty/],
      [{ SECRET_KEY_FILE: '/dev/zero' }, /SECRET_KEY_FILE .*long/],
      [{ SECRET_KEY_FILE: file('short', 'hidden-word') }, /^SECRET_KEY /],
      [{ DATABASE_URL_FILE: file('url', 'mysql://hidden-word') }, /^DATABASE_URL /],
    ]
    for (const [environment, pattern] of cases) {
      if (process.platform === 'win32' && environment['SECRET_KEY_FILE'] === '/dev/zero') continue
      const problems = problemsOf(environment)
      assert.equal(problems.length, 1, JSON.stringify(environment))
      assert.match(problems[0]!, pattern)
      assert.doesNotMatch(problems[0]!, /hidden-word|a secret of/)
    }
  })
})

it('warns about settings that are allowed and dangerous', () => {
  const warned = (environment: Readonly<Record<string, string>>) =>
    listConfigWarnings(readConfig(environment)).map(({ en }) => en)
  assert.deepEqual(warned({}), [])
  assert.match(warned({ DOMAIN_GATEWAYS: 'jump' }).join(), /DOMAIN_CANARY_GOOD/)
  const pair = { DOMAIN_CANARY_GOOD: 'https://good.example', DOMAIN_CANARY_BAD: 'https://bad.example' }
  assert.deepEqual(warned({ DOMAIN_GATEWAYS: 'jump', ...pair }), [])
  assert.match(warned({ TRUSTED_PROXIES: '10.0.0.1,0.0.0.0/0' }).join(), /TRUSTED_PROXIES/)
})

it('warns about metrics that others can read', () => {
  const warned = (environment: Readonly<Record<string, string>>) =>
    listConfigWarnings(readConfig(environment)).filter(({ en }) => en.startsWith('METRICS_PORT')).length
  for (const HOST of ['0.0.0.0', '::', '192.0.2.1', 'api.example.com'])
    assert.equal(warned({ HOST, METRICS_PORT: '9464' }), 1, HOST)
  for (const HOST of ['127.0.0.1', '127.1.2.3', '::1', 'localhost'])
    assert.equal(warned({ HOST, METRICS_PORT: '9464' }), 0, HOST)
  assert.equal(warned({ HOST: '0.0.0.0' }), 0, 'on the main port for this machine only')
  assert.equal(warned({ HOST: '0.0.0.0', METRICS_PORT: '9464', METRICS_TOKEN: 'a-token-of-sixteen' }), 0)
})

it('warns about a lease that ends while a provider may still respond', () => {
  const http = { SMS_HTTP_URL: 'https://sms.example', SMS_HTTP_SECRET: 's' }
  const aliyun = { ALIYUN_ACCESS_KEY_ID: 'i', ALIYUN_ACCESS_KEY_SECRET: 's' }
  const two = { ...http, ...aliyun, SMS_GATEWAYS: 'aliyun,http' }
  const warned = (environment: Readonly<Record<string, string>>) =>
    listConfigWarnings(readConfig(environment)).map(({ en }) => en)
  assert.deepEqual(warned(two), [])
  assert.match(warned({ ...two, GATEWAY_TIMEOUT_MS: '20000' }).join(), /OPERATION_LEASE_S=60 .*set it to 82 /)
  assert.deepEqual(warned({ ...two, GATEWAY_TIMEOUT_MS: '20000', OPERATION_LEASE_S: '82' }), [])
  assert.match(warned({ ...http, SMS_GATEWAYS: 'http', OPERATION_LEASE_S: '5' }).join(), /set it to 11 /)
  assert.match(
    warned({ ...aliyun, IDENTITY_GATEWAYS: 'aliyun', OPERATION_LEASE_S: '5' }).join(),
    /set it to 11 /,
  )
  assert.deepEqual(warned({ OPERATION_LEASE_S: '1' }), [], 'the sandbox')
})

describe('settings of signing in', () => {
  const oidc = { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' }

  it('refuses to turn passwords off without an OpenID provider', () => {
    assert.throws(() => readConfig({ PASSWORD_LOGIN: 'off' }), /PASSWORD_LOGIN=off .*OIDC_ISSUER/)
    assert.equal(readConfig({ PASSWORD_LOGIN: 'off', ...oidc }).PASSWORD_LOGIN, 'off')
  })

  it('wants all three settings of the provider, and https unless it is on this machine', () => {
    for (const name of ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const) {
      const rest: Record<string, string> = { ...oidc }
      delete rest[name]
      assert.throws(() => readConfig(rest), new RegExp(`${name} 缺失`))
    }
    assert.throws(() => readConfig({ ...oidc, OIDC_ISSUER: 'http://id.example.com' }), /OIDC_ISSUER .*https/)
    assert.equal(readConfig({ ...oidc, OIDC_ISSUER: 'http://127.0.0.1:4' }).OIDC_CLIENT_ID, 'a')
  })
})
