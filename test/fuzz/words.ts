// Generators of hostile texts and values.
import fc, { type Arbitrary } from 'fast-check'

const knownHostileTexts = [
  '',
  ' ',
  '\0',
  '\r\nSet-Cookie: a=b',
  '\u001b[31mred\u001b[0m',
  '{"level":60,"msg":"forged"}\n',
  "' OR 1=1 --",
  `"; DROP TABLE account; --`,
  '%00',
  '%ZZ',
  '%',
  '../../../etc/passwd',
  '..%2f..%2f',
  '<script>alert(1)</script>',
  '{{7*7}}',
  '${code}',
  '${${code}}',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'javascript:alert(1)',
  'data:text/html,x',
  'http://127.0.0.1/',
  'http://[::ffff:7f00:1]/',
  'http://2130706433/',
  'https://user:pass@host.test/',
  'https://例子.测试/路径?问=答#片',
  'https://a.test/\r\nX: y',
  '\u202egnp.exe',
  '\ufeff',
  '\ud800',
  '\udfff\ud800',
  'ａｂｃ',
  '👨‍👩‍👧‍👦',
  '㐀'.repeat(60),
  '-1',
  '0',
  '1e309',
  '9007199254740993',
  '-0',
  'NaN',
  'null',
  'true',
  '[]',
  '{}',
  '[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]',
  '=1+1',
  '2026-02-30',
  '0000-00-00',
  '+275760-09-13',
] as const

/** Placeholder for a JSON number that JSON.stringify cannot write. */
const rawNumber = (text: string): string => `@@number:${text}@@`

const numbers = [
  '1e309',
  '-1e309',
  '1e-400',
  '9007199254740993',
  '-0',
  '0.1e1',
  '123456789012345678901234567890',
]

const longText = fc
  .tuple(
    fc.constantFrom('a', '1', ' ', 'é', '汉', '\\', '[', '(', '.', '%41', '\n', '${a}', 'a.'),
    fc.nat(12_000),
  )
  .map(([unit, count]) => unit.repeat(count))

export const hostileText: Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...knownHostileTexts) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 200 }) },
  { weight: 1, arbitrary: longText },
)

/** Any JSON value, including numbers that JavaScript cannot represent. */
export const hostileValue: Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: hostileText },
  { weight: 2, arbitrary: fc.constantFrom(...numbers).map(rawNumber) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }) },
  { weight: 1, arbitrary: fc.constantFrom(null, true, false, 0, -1, 1.5, [], {}, [[]], [null], { a: {} }) },
  { weight: 1, arbitrary: fc.array(hostileText, { maxLength: 5 }) },
  { weight: 1, arbitrary: fc.dictionary(hostileText, hostileText, { maxKeys: 4 }) },
  { weight: 1, arbitrary: fc.nat(60).map(nested) },
)

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i += 1) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"@@number:([^@"]*)@@"/g, '$1')
}

/** Converts a text to a valid header value: one character per byte, no control characters, at most 1,000. */
export function headerSafe(text: string): string {
  return (
    Buffer.from(text.toWellFormed())
      .toString('latin1')
      // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
      .replaceAll(/[\0-\x08\x0a-\x1f\x7f]/g, '')
      .slice(0, 1_000)
  )
}
