// Decoding request bodies: JSON, forms, no body, and what is rejected with 400.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { decodeBody, type DecodedBody } from './body.ts'
import { AppError } from './errors.ts'
import { maxNames, maxShapes, maxValues } from './json.ts'

const urlencoded = 'application/x-www-form-urlencoded'

interface Options {
  readonly contentEncoding?: string
  readonly readForms?: boolean
}

function decode(contentType: string | undefined, body: string | Buffer, options: Options = {}): DecodedBody {
  return decodeBody({
    contentType,
    contentEncoding: options.contentEncoding,
    body: Buffer.from(body),
    readForms: options.readForms ?? true,
  })
}

function plain(...input: Parameters<typeof decode>): unknown {
  return JSON.parse(JSON.stringify(decode(...input)))
}

function rejected(...input: Parameters<typeof decode>): AppError {
  let result: DecodedBody
  try {
    result = decode(...input)
  } catch (error) {
    assert.ok(error instanceof AppError, String(error))
    assert.equal(error.status, 400)
    assert.equal(error.code, 1002)
    assert.match(error.text.zh, /\p{Script=Han}/u)
    assert.match(error.text.en, /^[\x20-\x7e]+$/)
    return error
  }
  assert.fail(`accepted: ${JSON.stringify(result)}`)
}

function multipart(parts: readonly (readonly [string, string])[], boundary = 'x'): Buffer {
  const text = parts
    .map(
      ([name, value]) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    .join('')
  return Buffer.from(`${text}--${boundary}--\r\n`)
}

function nested(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
}

test('decodes JSON with each of its content types', () => {
  for (const type of [
    'application/json',
    'Application/JSON; Charset="UTF-8"',
    'application/json;charset=utf8',
    'application/json; charset=us-ascii',
    'application/json; charset=',
    'application/problem+json',
    undefined,
    '',
  ]) {
    assert.deepEqual(decode(type, '{"a":"张三","b":[1]}'), { json: { a: '张三', b: [1] } })
  }
  assert.deepEqual(decode('application/json', '{}', { readForms: false }), { json: {} })
})

test('keeps all digits of a long integer in JSON', () => {
  const digits = '110105199001010016'
  for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
    assert.deepEqual(
      decode(type, `{"a":${digits},"b":{"x": -${digits}},"c":[${digits}],"d":12,"e":1.5,"f":1e21}`),
      { json: { a: digits, b: { x: `-${digits}` }, c: [Number(digits)], d: 12, e: 1.5, f: 1e21 } },
    )
  }
  assert.deepEqual(decode('application/json', '{"a":9007199254740991,"b":12345678901234567.5}'), {
    json: { a: 9007199254740991, b: 12345678901234567.5 },
  })
  for (const spaced of [`{"a" : -${digits} ,"b":1}`, `{"a":\n-${digits}\n,"b":1}`]) {
    assert.deepEqual(decode('application/json', spaced), { json: { a: `-${digits}`, b: 1 } })
  }
  // Quoting digits must not make valid what is not.
  for (const broken of [
    `0${digits}`,
    `--${digits}`,
    `+${digits}`,
    `${digits}x`,
    `${digits} 1`,
    `${digits}"`,
  ]) {
    rejected('application/json', `{"a":${broken}}`)
  }
  rejected('application/json', `{"a":{"__proto__":${digits}}}`)
})

test('treats an empty body as no body, whatever its headers', () => {
  for (const type of ['application/json', urlencoded, 'multipart/form-data', 'image/png', undefined]) {
    assert.deepEqual(decode(type, ''), {})
  }
  assert.deepEqual(decode('application/json', '\ufeff'), {})
  assert.deepEqual(decode('application/json', '', { contentEncoding: 'gzip' }), {})
})

test('rejects invalid JSON and JSON that is not an object', () => {
  for (const text of ['null', '[]', '[{}]', '1', '"a"', 'true']) {
    assert.match(rejected('application/json', text).text.en, /must be an object/)
  }
  for (const text of ['{', '{"a":1,}', "{'a':1}", 'a=1', ' ', '{"a":01}', '{}{}', '{"a":NaN}']) {
    assert.match(rejected('application/json', text).text.en, /not valid JSON/)
  }
  rejected(undefined, 'a=1')
})

test('the error does not contain the body', () => {
  const error = rejected('application/json', '{"id_card":"11010519491231002X",}')
  assert.equal(error.cause, undefined)
  assert.doesNotMatch(JSON.stringify([error.text, error.message]), /1101/)
})

test('rejects JSON with too many values or names before it is parsed', () => {
  const list = (count: number, item: string) => `{"urls":[${Array(count).fill(item).join(',')}]}`
  decode('application/json', list(maxValues - 10, '"a"'))
  decode('application/json', list(Math.floor((maxNames - 1) / 5), '{"a":1,"b":1,"c":1,"d":1,"e":1}'))
  for (const type of ['application/json', urlencoded, 'multipart/form-data; boundary=x']) {
    for (const body of [list(maxValues + 1, '1'), list(maxValues / 2 + 1, '{}')]) {
      assert.match(rejected(type, body).text.en, /^Too many values/)
    }
    assert.match(
      rejected(type, list(Math.ceil(maxNames / 5) + 1, '{"a":1,"b":1,"c":1,"d":1,"e":1}')).text.en,
      /^Too many parameters/,
    )
  }
  // Each takes `JSON.parse` as long as hundreds of values: other names, the same ones in another order, objects in objects.
  const names = (count: number) => `{${Array.from({ length: count }, (_, i) => `"name_${i}":1`).join(',')}}`
  assert.equal(Object.keys(decode('application/json', names(maxShapes)).json ?? {}).length, maxShapes)
  const letters = [...'abcdefghijklmnop']
  const turned = letters.flatMap((_, i) => letters.map((__, j) => [...letters.slice(i), ...letters.slice(j)]))
  const orders = turned.map((some) => `{${some.map((letter) => `"${letter}":1`).join(',')}}`)
  const nestedNames = Array.from({ length: 300 }, (_, i) => `${`{"n${i}":`.repeat(10)}1${'}'.repeat(10)}`)
  for (const body of [
    names(maxShapes + 1),
    `{"urls":[${orders.join(',')}]}`,
    `{"urls":[${Array.from({ length: maxShapes + 1 }, (_, i) => `{"n${i}":1}`).join(',')}]}`,
  ]) {
    assert.match(rejected('application/json', body).text.en, /^Too many different names/)
  }
  decode('application/json', `{"urls":[${nestedNames.join(',')}]}`)
  // Text inside of strings counts as one value.
  const text = ',:{}[]\\"'.repeat(30_000)
  assert.deepEqual(decode('application/json', JSON.stringify({ a: text })), { json: { a: text } })
})

test('accepts JSON 20 levels deep and rejects deeper', () => {
  assert.ok(decode('application/json', nested(20)).json)
  rejected('application/json', nested(21))
  rejected('application/json', nested(50))
  rejected('application/json', `{"a":${'['.repeat(20)}${']'.repeat(20)}}`)
  rejected('application/json', `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`)
  rejected('application/json', '{"a":'.repeat(200_000))
  // Brackets inside strings do not count, also after an escaped quote.
  const text = JSON.stringify({ a: `\\"${'[{'.repeat(100)}`, b: '\\' })
  assert.ok(decode('application/json', text).json)
  // Siblings are not depth.
  assert.ok(decode('application/json', `{"a":[${'[],'.repeat(1000)}[]]}`).json)
})

test('rejects names that reach a prototype at any depth', () => {
  for (const name of ['__proto__', 'constructor', 'prototype', '\\u005f_proto__']) {
    rejected('application/json', `{"${name}":1}`)
    rejected('application/json', `{"a":{"${name}":{"x":1}}}`)
    rejected('application/json', `{"a":[1,[{"b":{"${name}":null}}]]}`)
    rejected(urlencoded, `{"a":{"${name}":1}}`)
  }
  for (const name of ['__proto__', 'a[__proto__]', 'a[b][constructor]', 'prototype[a]']) {
    rejected(urlencoded, `${name}=1`)
    rejected('multipart/form-data; boundary=x', multipart([[name, '1']]))
  }
  assert.deepEqual(decode('application/json', '{"a":"__proto__"}'), {
    json: { a: '__proto__' },
  })
})

test('skips a byte order mark', () => {
  assert.deepEqual(decode('application/json', '\ufeff{"a":1}'), { json: { a: 1 } })
  assert.deepEqual(plain(urlencoded, '\ufeffa=1'), { form: { a: '1' } })
  assert.deepEqual(plain(urlencoded, '\ufeff{"a":1}'), { json: { a: 1 } })
  assert.deepEqual(
    plain('multipart/form-data; boundary=x', Buffer.concat([Buffer.from('\ufeff'), multipart([['a', '1']])])),
    { form: { a: '1' } },
  )
  // The mark overrides the charset of the header.
  assert.deepEqual(decode('application/json; charset=gbk', '\ufeff{"a":"张"}'), {
    json: { a: '张' },
  })
  const gb = Buffer.concat([Buffer.from('84319533', 'hex'), Buffer.from('{"a":1}')])
  assert.deepEqual(decode('application/json; charset=gb18030', gb), { json: { a: 1 } })
  rejected('application/json', Buffer.from('\ufeff{"a":1}', 'utf16le'))
})

test('decodes GBK in JSON, forms and multipart', () => {
  const zhang = Buffer.from('d5c5c8fd', 'hex')
  const around = (before: string, after: string): Buffer =>
    Buffer.concat([Buffer.from(before), zhang, Buffer.from(after)])
  for (const charset of ['gbk', 'GB2312', '"gb18030"']) {
    assert.deepEqual(decode(`application/json; charset=${charset}`, around('{"name":"', '"}')), {
      json: { name: '张三' },
    })
    assert.deepEqual(plain(`${urlencoded}; charset=${charset}`, around('a=1&name=', '')), {
      form: { a: '1', name: '张三' },
    })
    assert.deepEqual(plain(`${urlencoded}; charset=${charset}`, 'name=%D5%C5%C8%FD'), {
      form: { name: '张三' },
    })
    const part = '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n'
    assert.deepEqual(
      plain(`multipart/form-data; charset=${charset}; boundary=x`, around(part, '\r\n--x--\r\n')),
      { form: { name: '张三' } },
    )
    rejected(`application/json; charset=${charset}`, Buffer.from('{"a":"\xff"}', 'latin1'))
  }
})

test('rejects other charsets and invalid bytes', () => {
  for (const charset of ['iso-8859-1', 'utf-16', 'big5', 'latin1', 'nonsense', 'utf-7']) {
    rejected(`application/json; charset=${charset}`, '{}')
    rejected(`${urlencoded}; charset=${charset}`, 'a=1')
    rejected(`multipart/form-data; boundary=x; charset=${charset}`, multipart([['a', '1']]))
  }
  rejected('application/json', Buffer.from('{"a":"\xff"}', 'latin1'))
  rejected('application/json', Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1'))
  rejected(urlencoded, Buffer.from('a=\xff', 'latin1'))
  rejected(urlencoded, 'a=%FF')
  rejected(urlencoded, 'a=%')
  const broken = Buffer.from(multipart([['a', '\xff']]).toString('utf8'), 'latin1')
  rejected('multipart/form-data; boundary=x', broken)
})

test('rejects compressed bodies without decompressing them', () => {
  for (const contentEncoding of ['gzip', 'deflate', 'br', 'zstd', 'identity, gzip', 'x']) {
    rejected('application/json', gzipSync('{}'), { contentEncoding })
    rejected('application/json', '{}', { contentEncoding, readForms: false })
  }
  for (const contentEncoding of ['identity', ' Identity ', '']) {
    assert.deepEqual(decode('application/json', '{}', { contentEncoding }), { json: {} })
  }
})

test('rejects unknown content types', () => {
  for (const type of ['text/plain', 'text/xml', 'application/octet-stream', 'json', 'image/png']) {
    rejected(type, '{"a":1}')
    rejected(type, 'a=1', { readForms: false })
  }
})

test('decodes forms', () => {
  assert.deepEqual(plain(urlencoded, 'a=1&urls[]=x&urls[]=y&p[code]=12'), {
    form: { a: '1', urls: ['x', 'y'], p: { code: '12' } },
  })
  assert.deepEqual(plain(`${urlencoded.toUpperCase()};charset=UTF-8`, 'a=%E5%BC%A0'), {
    form: { a: '张' },
  })
  rejected(urlencoded, 'a=1&'.repeat(10_000))
  rejected(urlencoded, `a${'[b]'.repeat(50)}=1`)
})

test('rejects forms with too many levels, and decodes long values', () => {
  const deep = Array.from({ length: 1_000 }, (_, i) => `a${i}[b][c][d][e]=1`).join('&')
  assert.match(rejected(urlencoded, deep).text.en, /^Too many parameters/)
  const flat = Array.from({ length: 1_200 }, (_, i) => `urls[${i}]=1`).join('&')
  decode(urlencoded, flat)
  assert.deepEqual(plain(urlencoded, `${'&'.repeat(1_000)}a=1&&b=2&`), { form: { a: '1', b: '2' } })
  const long = '中 + a'.repeat(1_000)
  const encoded = encodeURIComponent(long).replaceAll('%20', '+')
  assert.deepEqual(plain(urlencoded, `a=${encoded}`), { form: { a: long } })
  rejected(urlencoded, `a=${'%41'.repeat(2_000)}%FF`)
  rejected(urlencoded, `a=${'%41'.repeat(2_000)}%4`)
})

test('decodes a JSON object with a form content type as JSON', () => {
  for (const type of [urlencoded, 'multipart/form-data; boundary=x', 'multipart/form-data']) {
    for (const readForms of [true, false]) {
      assert.deepEqual(decode(type, ' \r\n\t{"a":"1+1%20"}\n', { readForms }), {
        json: { a: '1+1%20' },
      })
    }
  }
  rejected(urlencoded, nested(21))
  assert.deepEqual(plain(urlencoded, '[1]'), { form: { '[1]': '' } })
  // Text that only starts like JSON is a form.
  assert.deepEqual(plain(urlencoded, '{a}=1&b=2'), { form: { '{a}': '1', b: '2' } })
})

test('treats a form as no body where forms are not read', () => {
  const options = { readForms: false }
  assert.deepEqual(decode(urlencoded, 'a=1', options), { ignoredForm: true })
  assert.deepEqual(decode(urlencoded, '{a}=1', options), { ignoredForm: true })
  assert.deepEqual(decode(urlencoded, 'a=%', options), { ignoredForm: true })
  assert.deepEqual(decode(`${urlencoded}; charset=latin1`, 'a=1', options), { ignoredForm: true })
  assert.deepEqual(decode('multipart/form-data', 'rubbish', options), { ignoredForm: true })
  const body = multipart([['a', '1']])
  assert.deepEqual(decode('multipart/form-data; boundary=x', body, options), { ignoredForm: true })
  assert.deepEqual(decode('application/json', '{"a":1}', options), { json: { a: 1 } })
})

test('decodes multipart without files as a form', async () => {
  const parts = [
    ['a', '1'],
    ['name', '张三'],
    ['urls[]', 'x'],
    ['urls[]', 'y'],
    ['p[code]', '012'],
    ['lines', 'a\r\nb'],
  ] as const
  const expected = {
    form: { a: '1', name: '张三', urls: ['x', 'y'], p: { code: '012' }, lines: 'a\r\nb' },
  }
  assert.deepEqual(
    plain('multipart/form-data; boundary=----7MA4YWxk', multipart(parts, '----7MA4YWxk')),
    expected,
  )
  assert.deepEqual(
    plain('Multipart/Form-Data; charset=utf-8; boundary="a-b:c 1"', multipart(parts, 'a-b:c 1')),
    expected,
  )
  // The boundary may occur inside a value; it ends a part only at the start of a line.
  const within = [
    ['a', 'tg_0x1'],
    ['b', '-x'],
    ['x', 'y--x'],
  ] as const
  assert.deepEqual(plain('multipart/form-data; boundary=x', multipart(within, 'x')), {
    form: { a: 'tg_0x1', b: '-x', x: 'y--x' },
  })
  const own = new FormData()
  for (const [name, value] of parts) own.append(name, value)
  const response = new Response(own)
  assert.deepEqual(
    plain(response.headers.get('content-type') ?? '', Buffer.from(await response.arrayBuffer())),
    expected,
  )
})

test('rejects invalid multipart bodies', async () => {
  const own = new FormData()
  own.append('a', '1')
  own.append('f', new Blob([Buffer.from([0xff, 0xfe])]), 'photo.jpg')
  const response = new Response(own)
  const error = rejected(
    response.headers.get('content-type') ?? '',
    Buffer.from(await response.arrayBuffer()),
  )
  assert.match(error.text.en, /files/)
  rejected('multipart/form-data', multipart([['a', '1']]))
  rejected('multipart/form-data; boundary=y', multipart([['a', '1']]))
  rejected('multipart/form-data; boundary=x', 'a=1')
  rejected('multipart/form-data; boundary=x', multipart([['a', '1']]).subarray(0, 50))
  rejected('multipart/form-data; boundary=\u5f20', multipart([['a', '1']]))
  const many = Array.from({ length: 1_201 }, (_, i) => [`p${i}`, '1'] as const)
  rejected('multipart/form-data; boundary=x', multipart(many))
  rejected('multipart/form-data; boundary=x', multipart([[`a${'[b]'.repeat(21)}`, '1']]))
  const long = 'x'.repeat(71)
  rejected(`multipart/form-data; boundary=${long}`, multipart([['a', '1']], long))
  const head = 'Content-Disposition: form-data; name="a"\r\n'
  for (const body of [
    '--x\r\n\r\n1\r\n--x--',
    '--x\r\nX: 1\r\n\r\n1\r\n--x--',
    `--x\r\n${head}1\r\n--x--`,
    `--x\r\n${head}${'X: 1\r\n'.repeat(1_000)}\r\n1\r\n--x--`,
    `--x\r\n${head}\r\n1\r\n--xy\r\n--x--`,
    '--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--',
    '--x\r\nContent-Disposition: form-data; x=1\r\n\r\n1\r\n--x--',
    `--x\r\n${head}\r\n1\r\n--x`,
    '--x',
  ]) {
    rejected('multipart/form-data; boundary=x', body)
  }
  for (const body of [
    `preamble\r\n--x \t\r\nX: 1\r\n${head}\r\n1\r\n--x--\r\nepilogue`,
    `--x\r\n${head.replace('form-data', 'Form-Data ').replace('"a"', 'a')}Content-Type: text/plain\r\n\r\n1\r\n--x--`,
  ]) {
    assert.deepEqual(plain('multipart/form-data; boundary=x', body), { form: { a: '1' } })
  }
  assert.deepEqual(plain('multipart/form-data; boundary=x', '--x--'), { form: {} })
})
