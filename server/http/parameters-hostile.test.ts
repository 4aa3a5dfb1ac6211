// Random and oversized values: each one is read, missing or invalid.
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ParameterType } from '../../contract/parameters.ts'
import { parseForm } from './form.ts'
import { maxValues, parseJson } from './json.ts'
import { readParameters, type ParameterSources } from './parameters.ts'

const text = { zh: '参数', en: 'parameter' }

/** One parameter `p_q` of a type: its value, `'missing'`, or the problem. */
function one(type: ParameterType, sources: Partial<ParameterSources>): unknown {
  const description = { p_q: { type, required: true, text } } as const
  const result = readParameters({ headers: {}, ...sources }, description)
  if (result.missing.length > 0) return 'missing'
  const [problem] = result.invalid
  if (problem !== undefined) return problem
  const value: unknown = result.values.p_q
  return value instanceof Map ? Object.fromEntries(value) : value
}

const json = (type: ParameterType, value: unknown): unknown => one(type, { json: { p_q: value } })

const latin1 = (value: string): string => Buffer.from(value, 'utf8').toString('latin1')

test('property: strings and integers are read alike from every source', () => {
  const value = fc.oneof(fc.string({ unit: 'grapheme', minLength: 1 }), fc.maxSafeInteger().map(String))
  fc.assert(
    fc.property(value, (given) => {
      fc.pre(given.trim() !== '' && !given.includes('\0') && given.isWellFormed())
      const query = parseForm(`p_q=${encodeURIComponent(given)}`)
      for (const type of ['string', 'integer', 'boolean', 'list', 'map'] as const) {
        const expected = json(type, given)
        assert.deepEqual(one(type, { query }), expected)
        assert.deepEqual(one(type, { form: query }), expected)
        assert.deepEqual(one(type, { headers: { p_q: latin1(given) } }), expected)
      }
    }),
  )
})

test('property: reads lists and maps from JSON text', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 5 }), (list) => {
      const sent = JSON.stringify(list)
      assert.deepEqual(json('list', sent), json('list', parseJson(sent)))
    }),
  )
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), (map) => {
      const sent = JSON.stringify(map)
      assert.deepEqual(json('map', sent), json('map', parseJson(sent)))
    }),
  )
})

test('165 lines of a list are read up to more than any operation accepts', () => {
  assert.deepEqual(json('list', '\r\n a \n\n\rb\r\nc d\n'), ['a', 'b', 'c d'])
  assert.equal((json('list', 'a\n'.repeat(2 * maxValues)) as unknown[]).length, maxValues + 1)
})

test('property: never throws, and every value has its declared type', () => {
  const before = Object.getOwnPropertyNames(Object.prototype)
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.json({ maxDepth: 25 }),
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.constantFrom('[', '{', '{"__proto__":"1"}', '[[[[', '{"constructor":{"prototype":{"x":1}}}'),
  )
  const header = fc.option(fc.string({ unit: 'binary' }), { nil: undefined })
  fc.assert(
    fc.property(header, anything, anything, fc.string(), (head, inJson, inForm, query) => {
      const everything = Object.fromEntries(
        (['string', 'integer', 'boolean', 'list', 'map'] as const).map((type) => [
          `p_${type}`,
          { type, required: true, text },
        ]),
      )
      const fill = (value: unknown): Record<string, unknown> =>
        Object.fromEntries(Object.keys(everything).map((name) => [name, value]))
      const result = readParameters(
        {
          headers: fill(head) as IncomingHttpHeaders,
          json: fill(inJson),
          form: fill(inForm),
          query: fill(query),
        },
        everything,
      )
      const values: Record<string, unknown> = result.values
      const settled = [...Object.keys(values), ...result.missing, ...result.invalid.map(({ name }) => name)]
      assert.deepEqual(settled.toSorted(), Object.keys(everything).toSorted())
      const string = values['p_string']
      assert.ok(string === undefined || (typeof string === 'string' && string.trim() !== ''))
      const integer = values['p_integer']
      assert.ok(integer === undefined || Number.isSafeInteger(integer))
      assert.ok(['boolean', 'undefined'].includes(typeof values['p_boolean']))
      const list = values['p_list'] ?? ['']
      assert.ok(Array.isArray(list) && list.length > 0)
      assert.ok(list.every((item) => typeof item === 'string'))
      const map = values['p_map'] ?? new Map()
      assert.ok(map instanceof Map && [...map.values()].every((item) => typeof item === 'string'))
      assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), before)
    }),
    { numRuns: 1000 },
  )
})

test('large hostile values terminate', () => {
  for (const unit of [
    '[',
    '{',
    '{"a":',
    '"',
    '\\',
    '\n',
    '\r\n',
    ' ',
    ' a',
    '-',
    '9',
    'true',
    '\xff',
    '张',
  ]) {
    const value = unit.repeat(100_000)
    for (const type of ['string', 'integer', 'boolean', 'list', 'map'] as const) {
      for (const given of [value, `[${value}`, `["${value}"]`, `{"${value}":1}`, `x${value}x`]) {
        one(type, { headers: { p_q: given } })
        one(type, { json: { p_q: given } })
        one(type, { json: { p_q: [given] } })
        one(type, { json: { p_q: { [given]: null } } })
      }
    }
  }
})
