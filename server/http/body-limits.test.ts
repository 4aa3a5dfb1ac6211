// Limits that keep a body that is refused cheap: what takes long to decode is refused before it is decoded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBody, maxGbkKib } from './body.ts'
import { AppError } from './errors.ts'
import { maxFields } from './form.ts'
import { maxEscapedLength, maxLongNumbers, maxSpaceLength } from './json.ts'

const urlencoded = 'application/x-www-form-urlencoded'

function rejected(contentType: string, body: string): AppError | undefined {
  try {
    decodeBody({ contentType, contentEncoding: undefined, body: Buffer.from(body), readForms: true })
    return undefined
  } catch (error) {
    assert.ok(error instanceof AppError, String(error))
    return error
  }
}

test('rejects JSON with long names and numbers, many escapes and much white space', () => {
  const list = (count: number, item: string) => `{"urls":[${Array(count).fill(item).join(',')}]}`
  const decimal = '1.2345678901234567'
  const escapes = (length: number) => `{"a":"${'\\"'.repeat(length / 2 - 10)}"}`
  for (const body of [
    list(maxLongNumbers, decimal),
    escapes(maxEscapedLength),
    `{"a":1${' '.repeat(maxSpaceLength - 10)}}`,
  ]) {
    assert.equal(rejected('application/json', body), undefined)
  }
  for (const [body, message] of [
    [list(maxLongNumbers + 1, decimal), /^Too many long numbers/],
    [list(maxLongNumbers + 1, ` -${decimal}e5`), /^Too many long numbers/],
    [escapes(maxEscapedLength + 100), /^Texts with escapes/],
    [list(maxEscapedLength / 100, `"${'\\n'.repeat(100)}"`), /^Texts with escapes/],
    [`{"${'x'.repeat(5_000)}":1}`, /^A name is too long/],
    [`{"a":${'1'.repeat(5_000)}}`, /^A number in the JSON is too long/],
    [`{"a":[1.${'1'.repeat(5_000)}]}`, /^A number in the JSON is too long/],
    [`{"a":${' '.repeat(maxSpaceLength + 1)}1}`, /^Too much white space/],
    [`{${'\n'.repeat(maxSpaceLength + 1)}}`, /^Too much white space/],
    // Not read to its end.
    [`{"a":1${' 1'.repeat(5_000)}`, /not valid JSON/],
    [`{"a":""${' ""'.repeat(5_000)}`, /not valid JSON/],
    [`{"a":[]${' []'.repeat(5_000)}`, /not valid JSON/],
    [`{"a":${'?'.repeat(5_000)}`, /not valid JSON/],
    [`{"a":${'x'.repeat(5_000)}`, /not valid JSON/],
    [`{"a":"${'x'.repeat(5_000)}`, /not valid JSON/],
  ] as const) {
    assert.match(rejected('application/json', body)?.text.en ?? '', message)
  }
})

test('rejects large bodies in GBK with 413', () => {
  const form = `a=${'x'.repeat(1_000_000)}`
  const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
  const end = '\r\n--x--'
  const json = JSON.stringify({ a: form })
  assert.equal(rejected(urlencoded, form), undefined)
  assert.equal(rejected('multipart/form-data; boundary=x', `${part}${form}${end}`), undefined)
  const inGbk = form.slice(0, maxGbkKib * 1_024)
  assert.equal(rejected(`${urlencoded}; charset=gbk`, inGbk), undefined)
  assert.equal(rejected(`${urlencoded}; charset=gbk`, `${inGbk}x`)?.status, 413)
  assert.equal(rejected('application/json', json), undefined)
  // `curl -d` sends JSON with the type of a form.
  assert.equal(rejected(urlencoded, json), undefined)
  assert.equal(rejected('application/json; charset=gb18030', json)?.status, 413)
})

test('rejects forms with a long name or too many fields before they are decoded', () => {
  assert.match(rejected(urlencoded, `${'%41'.repeat(500)}=1`)?.text.en ?? '', /^A name is too long/)
  assert.match(rejected(urlencoded, `a=1&${'x'.repeat(5_000)}`)?.text.en ?? '', /^A name is too long/)
  // The first field is not valid, and is not read.
  assert.match(rejected(urlencoded, `a=%&${'a=1&'.repeat(maxFields)}`)?.text.en ?? '', /^Too many parameters/)
})

test('rejects multipart forms whose headers are long together', () => {
  const part = (disposition: string) => `--x\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n1\r\n`
  const form = (disposition: string, parts: number) => `${part(disposition).repeat(parts)}--x--`
  const multipart = 'multipart/form-data; boundary=x'
  assert.equal(rejected(multipart, form(`name="${'a'.repeat(100)}"`, maxFields)), undefined)
  const long = form(`name="a"${';'.repeat(1_500)}`, 200)
  assert.match(rejected(multipart, long)?.text.en ?? '', /^Too many parameters/)
})
