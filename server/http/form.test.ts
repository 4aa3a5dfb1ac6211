// Parsing forms and queries: brackets, repeated fields, charsets, limits and prototype pollution.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from './errors.ts'
import { parseFields, parseForm, type Charset } from './form.ts'

/** Without null prototypes, which have a test of their own. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function form(input: string | Buffer, charset?: Charset): unknown {
  return plain(parseForm(input, charset))
}

function rejected(run: () => unknown): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof AppError, String(error))
    assert.equal(error.status, 400)
    assert.equal(error.code, 1002)
    assert.ok(error.text.zh !== '' && error.text.en !== '')
    return true
  })
}

test('parses plain fields, plus and percent', () => {
  assert.deepEqual(form(''), {})
  assert.deepEqual(form('a=1&b=two+words&c=%E5%BC%A0%E4%B8%89&d=1%2B1%3D2%26'), {
    a: '1',
    b: 'two words',
    c: '张三',
    d: '1+1=2&',
  })
  assert.deepEqual(form('&&a=1&&b&c=&=x&'), { a: '1', b: '', c: '' })
  assert.deepEqual(form('a=b=c'), { a: 'b=c' })
  assert.deepEqual(form('id=012345'), { id: '012345' })
})

test('parses raw UTF-8 from body bytes, from a request line and from text', () => {
  assert.deepEqual(form(Buffer.from('name=张三+李&b=1')), { name: '张三 李', b: '1' })
  assert.deepEqual(form(Buffer.from('name=张%E4%B8%89')), { name: '张三' })
  assert.deepEqual(form(Buffer.from('name=张三').toString('latin1')), { name: '张三' })
  assert.deepEqual(form('name=张三'), { name: '张三' })
})

test('keeps a byte order mark inside a value', () => {
  assert.deepEqual(form('a=%EF%BB%BFx'), { a: '\ufeffx' })
})

test('parses PHP lists', () => {
  assert.deepEqual(form('urls[]=a&urls[]=b'), { urls: ['a', 'b'] })
  assert.deepEqual(form('urls%5B%5D=a&urls%5b%5d=b'), { urls: ['a', 'b'] })
  assert.deepEqual(form('urls[]=a'), { urls: ['a'] })
  assert.deepEqual(form('urls[0]=a'), { urls: ['a'] })
  assert.deepEqual(form('urls[0]=a&urls[1]=b'), { urls: ['a', 'b'] })
  assert.deepEqual(form('urls=a&urls=b&urls=a'), { urls: ['a', 'b', 'a'] })
  assert.deepEqual(form('urls=a&urls[]=b&urls[0]=c'), { urls: ['a', 'c', 'b'] })
})

test('orders list items by index and closes gaps', () => {
  assert.deepEqual(form('u[10]=c&u[2]=b&u[0]=a'), { u: ['a', 'b', 'c'] })
  assert.deepEqual(form('u[999999999999999]=b&u[5000]=a'), { u: ['a', 'b'] })
})

test('parses a list of a thousand items in every notation', () => {
  const items = Array.from({ length: 1000 }, (_, i) => `u${i}`)
  assert.deepEqual(form(items.map((item) => `urls[]=${item}`).join('&')), { urls: items })
  assert.deepEqual(form(items.map((item, i) => `urls[${i}]=${item}`).join('&')), { urls: items })
  assert.deepEqual(form(items.map((item) => `urls=${item}`).join('&')), { urls: items })
})

test('parses PHP objects', () => {
  assert.deepEqual(form('template_params[code]=1234&template_params[name]=%E5%BC%A0'), {
    template_params: { code: '1234', name: '张' },
  })
  assert.deepEqual(form('a[b][c]=1&a[b][d][]=2&a[b][d][]=3'), {
    a: { b: { c: '1', d: ['2', '3'] } },
  })
  assert.deepEqual(form('a[][x]=1&a[][x]=2'), { a: [{ x: '1' }, { x: '2' }] })
  assert.deepEqual(form('a[007]=x'), { a: { '007': 'x' } })
  assert.deepEqual(form('a[x]=1&a[x]=2'), { a: { x: ['1', '2'] } })
})

test('treats unclosed brackets as part of a plain name', () => {
  assert.deepEqual(form('a[b=1&a]b=2&[c]=3&a[b]c=4&]=5&[=6'), {
    'a[b': '1',
    'a]b': '2',
    '[c]': '3',
    'a[b]c': '4',
    ']': '5',
    '[': '6',
  })
})

test('rejects a field that is both a list or a string and an object', () => {
  rejected(() => parseForm('a=1&a[b]=2'))
  rejected(() => parseForm('a[b]=2&a=1'))
  rejected(() => parseForm('a[]=1&a[b]=2'))
})

test('returns objects without a prototype at every level', () => {
  const result = parseForm('a[b][c]=1')
  assert.equal(Object.getPrototypeOf(result), null)
  const a = result['a']
  assert.ok(typeof a === 'object' && a !== null)
  assert.equal(Object.getPrototypeOf(a), null)
  assert.deepEqual(form('toString=1&hasOwnProperty[x]=2'), {
    toString: '1',
    hasOwnProperty: { x: '2' },
  })
})

test('rejects names that reach a prototype in any position', () => {
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    for (const pair of [
      `${name}=1`,
      name,
      `${name}[x]=1`,
      `a[${name}]=1`,
      `a[${name}][x]=1`,
      `a[x][${name}]=1`,
      `a[][${name}]=1`,
      `a[${name}=1`,
      `a[x]${name}]=1`,
      `[${name}]=1`,
      `a%5B${name}%5D=1`,
      `a[%5f${name.slice(1)}]=1`,
    ]) {
      // The last one only spells the name when it starts with an underscore.
      if (pair.includes('%5f') && !name.startsWith('_')) continue
      rejected(() => parseForm(`ok=1&${pair}`))
    }
  }
  assert.equal(Object.getOwnPropertyDescriptor(Object.prototype, 'x'), undefined)
  assert.deepEqual(form('my_constructor=1&a[prototypes]=2&v=__proto__'), {
    my_constructor: '1',
    a: { prototypes: '2' },
    v: '__proto__',
  })
})

test('accepts 1,200 fields and rejects more', () => {
  const pairs = (count: number): string => Array.from({ length: count }, (_, i) => `p${i}=1`).join('&')
  assert.equal(Object.keys(parseForm(pairs(1_200))).length, 1_200)
  rejected(() => parseForm(pairs(1_201)))
  rejected(() => parseForm(pairs(10_000)))
  rejected(() => parseForm('urls[]=a&'.repeat(10_000)))
  rejected(() => parseForm('=&'.repeat(10_000)))
  rejected(() => parseFields(Array.from({ length: 1_201 }, () => ['a', 'b'] as const)))
})

test('accepts 20 levels and rejects 21', () => {
  // The outermost object is the first level, as it is in JSON.
  let value: unknown = parseForm(`a${'[b]'.repeat(19)}=1`)
  let levels = 0
  while (typeof value === 'object' && value !== null) {
    value = Object.values(value)[0]
    levels += 1
  }
  assert.equal(levels, 20)
  rejected(() => parseForm(`a${'[b]'.repeat(20)}=1`))
  rejected(() => parseForm(`a${'[]'.repeat(50)}=1`))
  rejected(() => parseForm(`a${'[b]'.repeat(30_000)}=1`))
})

test('rejects invalid percent-encoding and invalid UTF-8', () => {
  for (const bad of ['%', '%4', '%zz', '%4g', '%E5%BC', '%FF', '%C0%80', '%ED%A0%80', '100%']) {
    rejected(() => parseForm(`a=${bad}`))
    rejected(() => parseForm(`${bad}=1`))
    rejected(() => parseForm(Buffer.from(`a=张${bad}`)))
  }
  rejected(() => parseForm(Buffer.from([0x61, 0x3d, 0xff])))
  rejected(() => parseForm('a=\xff'))
})

test('parses GBK, raw and escaped', () => {
  // 张三 is D5 C5 C8 FD.
  const raw = Buffer.concat([Buffer.from('name='), Buffer.from('d5c5c8fd', 'hex')])
  assert.deepEqual(form(raw, 'gb18030'), { name: '张三' })
  assert.deepEqual(form('name=%D5%C5%C8%FD&a=1+2', 'gb18030'), { name: '张三', a: '1 2' })
  // 腫 is C4 5B, and 5B alone is a bracket: the name has to be decoded before it is taken apart.
  assert.deepEqual(form('a[%C4%5B]=1&a[%C4[]=2', 'gb18030'), { a: { 腫: ['1', '2'] } })
  // A rare character, four bytes long: 𡰝.
  assert.deepEqual(form('name=%957%DC3', 'gb18030'), { name: '𡰝' })
  rejected(() => parseForm('name=%D5', 'gb18030'))
  rejected(() => parseForm('name=%FF', 'gb18030'))
  rejected(() => parseForm('name=%D', 'gb18030'))
  // An error does not affect the next call of the decoder.
  assert.deepEqual(form('name=%D5%C5', 'gb18030'), { name: '张' })
})

test('property: parses what encodeURIComponent writes', () => {
  const name = fc
    .string({ unit: 'binary', minLength: 1 })
    .filter((text) => !/^(?:__proto__|constructor|prototype)$|\[/.test(text))
  const value = fc.string({ unit: 'binary' })
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 20 }), (pairs) => {
      const expected = new Map<string, string[]>()
      for (const [key, text] of pairs) expected.set(key, [...(expected.get(key) ?? []), text])
      const query = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
      for (const input of [query, Buffer.from(query)]) {
        const result = parseForm(input)
        assert.equal(Object.keys(result).length, expected.size)
        for (const [key, texts] of expected) {
          assert.deepEqual(result[key], texts.length === 1 ? texts[0] : texts)
        }
      }
    }),
  )
})

test('property: orders list items by index', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 50 }), (indices) => {
      const result = parseForm(indices.map((index) => `u[${index}]=v${index}`).join('&'))
      const expected = indices.toSorted((a, b) => a - b).map((index) => `v${index}`)
      assert.deepEqual(result['u'], expected)
    }),
  )
})

test('property: any input is an object or a 400, and Object.prototype does not change', () => {
  const before = Object.getOwnPropertyNames(Object.prototype)
  const piece = fc.constantFrom(
    ...['a', 'b', '[', ']', '[]', '[0]', '[__proto__]', '[constructor]', '__proto__', 'prototype'],
    ...['=', '&', '%', '%5B', '%5D', '+', '%D5%C5', '\xff', '张', '1'],
  )
  const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
  fc.assert(
    fc.property(
      fc.oneof(text, fc.string({ unit: 'binary' }), bytes),
      fc.constantFrom<Charset>('utf-8', 'gb18030'),
      (input, charset) => {
        try {
          assert.equal(Object.getPrototypeOf(parseForm(input, charset)), null)
        } catch (error) {
          assert.ok(error instanceof AppError, String(error))
          assert.equal(error.status, 400)
        }
        assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), before)
      },
    ),
    { numRuns: 1000 },
  )
})

test('large hostile inputs terminate', () => {
  for (const unit of ['&', '=', '%', '%41', '[', ']', '[]', 'a[', '+', 'a&', '[__proto__', '张', '0']) {
    const input = unit.repeat(100_000)
    for (const text of [input, `a=${input}`, `a[${input}]=1`, `a${input}`]) {
      for (const charset of ['utf-8', 'gb18030'] as const) {
        try {
          parseForm(Buffer.from(text), charset)
        } catch (error) {
          assert.ok(error instanceof AppError, String(error))
        }
      }
    }
  }
})
