// Reading parameters: order of the sources, empty values, and every type from every source.
import assert from 'node:assert/strict'
import { createServer, request, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { ParameterType } from '../../contract/parameters.ts'
import { AppError } from './errors.ts'
import { parseForm } from './form.ts'
import { parameterError, readParameters, type ParameterSources } from './parameters.ts'

const text = { zh: '参数', en: 'parameter' }
const send = {
  username: { type: 'string', required: true, text },
  api_key: { type: 'string', required: true, text },
  phone_number: { type: 'string', required: true, text },
  page: { type: 'integer', required: false, text },
  check_random: { type: 'boolean', required: false, text },
  urls: { type: 'list', required: false, text },
  template_params: { type: 'map', required: false, text },
} as const

type Sources = Partial<ParameterSources>

/** One parameter `p_q` of a type: its value, `'missing'`, or the problem. */
function one(type: ParameterType, sources: Sources): unknown {
  const description = { p_q: { type, required: true, text } } as const
  const result = readParameters({ headers: {}, ...sources }, description)
  if (result.missing.length > 0) return 'missing'
  const [problem] = result.invalid
  if (problem !== undefined) {
    assert.equal(problem.name, 'p_q')
    assert.match(problem.text.zh, /\p{Script=Han}/u)
    assert.ok(problem.text.en !== '')
    return problem
  }
  const value: unknown = result.values.p_q
  return value instanceof Map ? Object.fromEntries(value) : value
}

const json = (type: ParameterType, value: unknown): unknown => one(type, { json: { p_q: value } })

/** 18 digits, of which a JSON number keeps 16. */
const idNumber = Number('110105194912310021')

function invalid(outcome: unknown): void {
  assert.ok(typeof outcome === 'object' && outcome !== null && 'text' in outcome, String(outcome))
}

const latin1 = (value: string): string => Buffer.from(value, 'utf8').toString('latin1')

test('looks up each parameter separately', () => {
  const {
    values,
    sources,
    missing,
    invalid: wrong,
  } = readParameters(
    {
      headers: { api_key: 'k' },
      json: { phone_number: 13800138000, template_params: { code: '1' } },
      form: { page: '2' },
      query: { username: 'zhang', check_random: 'true' },
    },
    send,
  )
  // The types follow the description: required ones are there.
  const key: string = values.api_key
  const page: number | undefined = values.page
  const urls: readonly string[] | undefined = values.urls
  assert.deepEqual([key, page, urls], ['k', 2, undefined])
  assert.deepEqual(values, {
    api_key: 'k',
    phone_number: '13800138000',
    page: 2,
    username: 'zhang',
    check_random: true,
    template_params: new Map([['code', '1']]),
  })
  assert.deepEqual(sources, {
    username: 'query',
    api_key: 'header',
    phone_number: 'json',
    page: 'form',
    check_random: 'query',
    template_params: 'json',
  })
  assert.deepEqual([missing, wrong], [[], []])
})

test('reads header before JSON before form before query', () => {
  const all = {
    headers: { p_q: 'h', 'p-q': 'hyphen' },
    json: { p_q: 'j' },
    form: { p_q: 'f' },
    query: { p_q: 'q' },
  }
  assert.equal(one('string', all), 'h')
  assert.equal(one('string', { ...all, headers: { 'p-q': 'hyphen' } }), 'hyphen')
  assert.equal(one('string', { ...all, headers: { p_q: ' ', 'p-q': 'hyphen' } }), 'hyphen')
  assert.equal(one('string', { ...all, headers: {} }), 'j')
  assert.equal(one('string', { form: all.form, query: all.query }), 'f')
  assert.equal(one('string', { query: all.query }), 'q')
  assert.equal(one('string', {}), 'missing')
  // The hyphen form is for headers only.
  assert.equal(one('string', { json: { 'p-q': 'x' }, query: { 'p-q': 'x' } }), 'missing')
})

test('treats blank values as not given, for every type and source', () => {
  for (const type of ['string', 'integer', 'boolean', 'list', 'map'] as const) {
    const good = { string: 'x', integer: '1', boolean: 'true', list: 'x', map: '{"a":"x"}' }[type]
    for (const blank of ['', '  ', '\t\r\n', '\u3000', null, undefined]) {
      assert.equal(json(type, blank), 'missing')
      const header = typeof blank === 'string' ? latin1(blank) : undefined
      const outcome = one(type, {
        headers: { p_q: header },
        json: { p_q: blank },
        form: { p_q: blank },
        query: { p_q: good },
      })
      assert.deepEqual(outcome, one(type, { query: { p_q: good } }))
      assert.notEqual(outcome, 'missing')
    }
  }
})

test('reports an invalid value instead of reading the next source', () => {
  invalid(one('integer', { headers: { p_q: 'x' }, json: { p_q: 1 } }))
  invalid(one('string', { json: { p_q: {} }, query: { p_q: 'x' } }))
})

test('reads only declared names and own properties', () => {
  const description = { toString: { type: 'string', required: true, text } } as const
  const bare = Object.create({ toString: 'inherited' }) as Record<string, unknown>
  const headers: IncomingHttpHeaders = {}
  assert.deepEqual(readParameters({ headers, json: {}, form: bare, query: bare }, description).missing, [
    'toString',
  ])
  const values = readParameters({ headers: { extra: '1' }, json: { role: 'admin' } }, send).values
  assert.deepEqual(values, {})
})

test('reads strings', () => {
  assert.equal(json('string', '012345'), '012345')
  assert.equal(json('string', '  a  b \n'), 'a  b')
  assert.equal(json('string', 13800138000), '13800138000')
  assert.equal(json('string', 0), '0')
  assert.equal(json('string', -0), '0')
  assert.equal(json('string', -12.5), '-12.5')
  assert.equal(json('string', 9007199254740991), '9007199254740991')
  assert.equal(json('string', '{"a":1}'), '{"a":1}')
  // An ID number that is a number here has lost its last digits: never to be passed on.
  for (const number of [idNumber, 2 ** 53, 1e21, 1e-7, 1.5e300, Infinity, NaN]) {
    invalid(json('string', number))
  }
  for (const wrong of [true, false, [], ['a'], {}, { a: 1 }]) invalid(json('string', wrong))
  invalid(one('string', { query: parseForm('p_q=a&p_q=b') }))
  invalid(json('string', 'a\0b'))
  invalid(json('string', 'a\ud800'))
  assert.equal(json('string', '𡰝·a'), '𡰝·a')
})

test('reads integers', () => {
  for (const [given, expected] of [
    [12, 12],
    ['12', 12],
    [' 12 ', 12],
    ['-3', -3],
    [-3, -3],
    ['0', 0],
    ['-0', 0],
    [-0, 0],
    ['9007199254740991', 9007199254740991],
    ['-9007199254740991', -9007199254740991],
  ] as const) {
    assert.ok(Object.is(json('integer', given), expected), String(given))
    if (typeof given === 'string') {
      assert.equal(one('integer', { headers: { p_q: given } }), json('integer', given))
    }
  }
  for (const wrong of [
    ...['1.5', '1e3', '0x10', '+1', '1_000', '1,000', '--1', '-', 'abc', '１２', '1 2', '1\0'],
    ...['9007199254740992', '9'.repeat(100_000), 1.5, 2 ** 53, Infinity, NaN, true, false, [], [1], {}],
  ]) {
    invalid(json('integer', wrong))
  }
})

test('reads booleans', () => {
  for (const yes of [true, 1, '1', 'true', 'TRUE', ' True ']) {
    assert.equal(json('boolean', yes), true)
  }
  for (const no of [false, 0, '0', 'false', 'FALSE', 'False\n']) {
    assert.equal(json('boolean', no), false)
  }
  assert.equal(one('boolean', { headers: { p_q: 'False' }, json: { p_q: true } }), false)
  for (const wrong of ['yes', 'on', '2', '01', 2, -1, 0.5, [], {}, [true], 'truetrue', 'fals\u00e9']) {
    invalid(json('boolean', wrong))
  }
})

test('reads lists', () => {
  assert.deepEqual(json('list', ['a', 'b']), ['a', 'b'])
  // Items are as submitted, blank ones too: they count, and are answered one by one.
  assert.deepEqual(json('list', [' a ', '', 'b\nc']), [' a ', '', 'b\nc'])
  assert.deepEqual(json('list', 'a.com'), ['a.com'])
  assert.deepEqual(json('list', ' a.com \r\n\r\n\tb.com\n \nc.com\r'), ['a.com', 'b.com', 'c.com'])
  assert.deepEqual(json('list', ' ["a", "", "b"] '), ['a', '', 'b'])
  for (const source of ['form', 'query'] as const) {
    for (const body of [
      'p_q[]=a&p_q[]=b',
      'p_q[0]=a&p_q[1]=b',
      'p_q[7]=b&p_q[3]=a',
      'p_q=a&p_q=b',
      'p_q=%5B%22a%22,%22b%22%5D',
      'p_q=a%0D%0Ab',
    ]) {
      assert.deepEqual(one('list', { [source]: parseForm(body) }), ['a', 'b'], body)
    }
    assert.deepEqual(one('list', { [source]: parseForm('p_q[]=a') }), ['a'])
    assert.deepEqual(one('list', { [source]: parseForm('p_q=a') }), ['a'])
  }
  assert.deepEqual(one('list', { headers: { 'p-q': latin1('["张.com","b"]') } }), ['张.com', 'b'])
  for (const empty of [[], {}, '[]', ' [ ] ', '{}']) {
    assert.equal(json('list', empty), 'missing')
    assert.deepEqual(one('list', { json: { p_q: empty }, query: { p_q: 'a' } }), ['a'])
  }
  for (const wrong of [
    ...[1, true, { a: 'b' }, [1], ['a', null], ['a', ['b']], [{}], [true], ['a\0'], 'a\0'],
    ...['[1]', '["a"', '[null]', '[["a"]]', '["\\ud800"]', '['.repeat(100_000)],
  ]) {
    invalid(json('list', wrong))
  }
  const problem = json('list', ['a', 'b', 3])
  assert.match(JSON.stringify(problem), /\[2\] is not/)
})

test('reads maps', () => {
  assert.deepEqual(json('map', { code: '0123', n: 12.5, big: 13800138000 }), {
    code: '0123',
    n: '12.5',
    big: '13800138000',
  })
  // Values are content and stay as sent.
  assert.deepEqual(json('map', { a: ' x ', b: '', c: '{"d":1}' }), { a: ' x ', b: '', c: '{"d":1}' })
  assert.deepEqual(json('map', ' {"code": "1", "n": 2} '), { code: '1', n: '2' })
  assert.deepEqual(json('map', '{"n":1152921504606846977}'), { n: '1152921504606846977' })
  assert.deepEqual(one('map', { headers: { p_q: latin1('{"名":"张"}') } }), { 名: '张' })
  assert.deepEqual(one('map', { form: parseForm('p_q[code]=1234&p_q[name]=%E5%BC%A0') }), {
    code: '1234',
    name: '张',
  })
  assert.deepEqual(one('map', { query: parseForm('p_q=%7B%22code%22:%221%22%7D') }), { code: '1' })
  for (const empty of [[], {}, '[]', '{}', ' [ ] ']) {
    assert.deepEqual(one('map', { json: { p_q: empty }, query: { p_q: { a: 'x' } } }), {})
  }
  for (const wrong of [
    ...[1, true, 'code', 'null', '1', '"a"', '{', '{"a":1', ['a'], '["a"]'],
    '{"a":'.repeat(50_000),
  ]) {
    invalid(json('map', wrong))
  }
})

test('names the invalid variables of a map', () => {
  for (const value of [null, true, {}, [], ['a'], 1e21, idNumber, 'a\0']) {
    const problem = JSON.stringify(json('map', { good: 'x', code: value, other: value }))
    assert.match(problem, /：code, other"/)
    assert.match(problem, /: code, other"/)
  }
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`v${i}`, null]))
  assert.ok(JSON.stringify(json('map', many)).length < 1000)
  const hostile = JSON.stringify(json('map', { [`\u001b[31m\r\n\u2028${'x'.repeat(1000)}`]: null }))
  assert.ok(hostile.length < 400)
  assert.doesNotMatch(hostile, /\\u001b|\\r|\\n|\u2028/)
})

test('rejects map keys that reach a prototype', () => {
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    invalid(json('map', `{"${name}":"x"}`))
    invalid(one('map', { headers: { p_q: `{"a":"b","${name}":{"x":"1"}}` } }))
    invalid(json('map', JSON.parse(`{"${name}":"x"}`)))
  }
})

test('decodes headers as UTF-8', () => {
  assert.equal(one('string', { headers: { p_q: latin1('张三·𡰝') } }), '张三·𡰝')
  assert.equal(one('string', { headers: { p_q: '张三' } }), '张三')
  invalid(one('string', { headers: { p_q: '\xd5\xc5' } }))
  invalid(one('integer', { headers: { p_q: '\xff' }, json: { p_q: 1 } }))
})

test('reads Chinese in a header over a real connection', async () => {
  let seen: unknown
  const server = createServer((incoming, answer) => {
    seen = [
      one('string', { headers: incoming.headers }),
      one('string', { query: parseForm(incoming.url?.split('?')[1] ?? '') }),
    ]
    answer.end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  try {
    const { port } = server.address() as AddressInfo
    const path = `/?p_q=${encodeURIComponent('李四')}`
    await new Promise<void>((done, fail) => {
      request({ port, host: '127.0.0.1', path, headers: { p_q: latin1('张三') } }, (answer) => {
        answer.resume().on('end', done)
      })
        .on('error', fail)
        .end()
    })
    assert.deepEqual(seen, ['张三', '李四'])
  } finally {
    server.close()
  }
})

test('collects all problems', () => {
  const { missing, invalid: wrong } = readParameters(
    { headers: {}, json: { username: ['a'], page: 'x', urls: [1], template_params: { code: null } } },
    send,
  )
  assert.deepEqual(missing, ['api_key', 'phone_number'])
  assert.deepEqual(
    wrong.map(({ name }) => name),
    ['username', 'page', 'urls', 'template_params'],
  )
  const error = parameterError(missing, wrong)
  assert.equal(
    error.text.zh,
    'username 必须是文本；page 必须是整数；urls 必须是文本列表（[0] 不是有效文本）；' +
      'template_params 的变量值必须是文本或可精确表示的数字：code；api_key 缺失；phone_number 缺失',
  )
})

test('reports all problems in one error', () => {
  const problem = {
    name: 'phone_number',
    text: { zh: '必须是11位手机号', en: 'must be a mobile number of 11 digits' },
  }
  const both = parameterError(['template_code'], [problem])
  assert.ok(both instanceof AppError)
  assert.deepEqual([both.code, both.status], [1001, 400])
  assert.deepEqual(both.text, {
    zh: 'phone_number 必须是11位手机号；template_code 缺失',
    en: 'phone_number must be a mobile number of 11 digits; template_code is missing',
  })
  const wrong = parameterError([], [problem])
  assert.deepEqual([wrong.code, wrong.status], [1002, 400])
  assert.equal(wrong.text.zh, 'phone_number 必须是11位手机号')
  const keyless = parameterError(['username', 'api_key'], [problem])
  assert.deepEqual([keyless.code, keyless.status], [1001, 401])
  // A key that is there and wrong in form is not a missing one.
  const badKey = parameterError([], [{ name: 'api_key', text: problem.text }])
  assert.deepEqual([badKey.code, badKey.status], [1002, 400])
})
