// Random and oversized bodies with random content types: each one is decoded or rejected with 400.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeBody, type DecodedBody } from './body.ts'
import { AppError } from './errors.ts'
import { parseJson } from './json.ts'

const urlencoded = 'application/x-www-form-urlencoded'

function decode(contentType: string, body: Buffer): DecodedBody {
  return decodeBody({ contentType, contentEncoding: undefined, body, readForms: true })
}

test('property: rejects JSON exactly when it nests deeper than 20 levels', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'max', maxDepth: 30 },
      fc.string({ unit: fc.constantFrom('[', '{', '"', '\\', 'a', '}') }),
      fc.tuple(tie('node')),
      fc.record({ a: tie('node') }),
    ),
  })).node
  fc.assert(
    fc.property(value, fc.nat(25), (inner, extra) => {
      let whole: unknown = inner
      for (let i = 0; i < extra; i += 1) whole = i % 2 === 0 ? [whole] : { '"[': whole }
      const text = JSON.stringify(whole)
      if (depthOf(whole) > 20) assert.throws(() => parseJson(text), AppError)
      else assert.deepEqual(parseJson(text), JSON.parse(text))
    }),
  )
})

/** An integer beyond 2^53 becomes a string, except in arrays. */
function longAsText(this: unknown, _key: string, value: unknown): unknown {
  const isLong = Number.isInteger(value) && !Number.isSafeInteger(value) && !Array.isArray(this)
  return isLong && !String(value).includes('e') ? String(value) : value
}

test('property: decodes JSON objects unchanged', () => {
  const forbidden = /"(?:__proto__|constructor|prototype)":/
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 5 })), (object) => {
      const text = JSON.stringify(object)
      fc.pre(!forbidden.test(text))
      const { json } = decode('application/json', Buffer.from(text))
      assert.deepEqual(json, JSON.parse(text, longAsText))
    }),
  )
})

test('property: any input is decoded or rejected with 400, and Object.prototype does not change', () => {
  const before = Object.getOwnPropertyNames(Object.prototype)
  const type = fc.oneof(
    fc.constantFrom(
      undefined,
      '',
      'application/json',
      'application/json; charset=gbk',
      'application/x+json',
      urlencoded,
      `${urlencoded}; charset=gb2312`,
      'multipart/form-data; boundary=x',
      'multipart/form-data; boundary=x; charset=gbk',
      'multipart/form-data',
      'text/plain',
      ';;=;charset',
    ),
    fc.string({ unit: 'binary' }),
    fc.string().map((text) => `multipart/form-data; boundary=${text}`),
    fc.string().map((text) => `application/json; charset=${text}`),
  )
  const piece = fc.constantFrom(
    ...['{', '}', '[', ']', '"', ':', ',', '"__proto__"', '"a"', '1', 'null', 'a=1', '&', '%'],
    ...['--x', '--x--', '\r\n', 'Content-Disposition: form-data; name="a"', '; filename="f"', '\ufeff'],
    ...['constructor', '张', 'a[__proto__]=1', '{"a":', '[[[[[[[[', '\\', '\xff'],
  )
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join(''))),
    fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join(''), 'latin1')),
    fc.json({ maxDepth: 8 }).map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(
      type,
      body,
      fc.option(fc.constantFrom('identity', 'gzip', ''), { nil: undefined }),
      fc.boolean(),
      (contentType, bytes, contentEncoding, readForms) => {
        try {
          const result = decodeBody({ contentType, contentEncoding, body: bytes, readForms })
          assert.ok(Object.keys(result).length <= 1)
          if (!readForms) assert.equal(result.form, undefined)
        } catch (error) {
          assert.ok(error instanceof AppError, String(error))
          assert.equal(error.status, 400)
        }
        assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), before)
      },
    ),
    { numRuns: 2000 },
  )
})

test('large hostile bodies terminate', () => {
  const units = [
    '[',
    '{',
    '"',
    '\\',
    '{"a":',
    '[[],',
    ' ',
    '-',
    '--x\r\n',
    '\r\n--x\r\nA: b',
    '张',
    '%',
    '&',
    '1',
    ';',
    '}x',
    '] ',
    '\\"',
    ':',
    'a[xconstructor',
    '[]x__proto__',
  ]
  for (const unit of units) {
    for (const type of ['application/json', urlencoded, 'multipart/form-data; boundary=x']) {
      for (const text of [
        unit.repeat(100_000),
        `{"a":"${unit.repeat(100_000)}"}`,
        `{"${'x'.repeat(900_000)}"${unit.repeat(20_000)}`,
      ]) {
        try {
          decode(type, Buffer.from(text))
        } catch (error) {
          assert.ok(error instanceof AppError, String(error))
          assert.ok([400, 413].includes(error.status))
        }
      }
    }
  }
})
