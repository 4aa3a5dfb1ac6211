// Generates bytes for a socket: invalid HTTP, and HTTP that parsers interpret differently.
import fc, { type Arbitrary } from 'fast-check'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { damage, type RawCase } from './case.ts'

const requestLines = [
  `GET ${sms.path}?action=get_credits HTTP/1.1`,
  `POST ${shortlink.path} HTTP/1.1`,
  'GET /livez HTTP/1.1',
  'GET /aBcD234 HTTP/1.1',
  'GET /b/aBcD234 HTTP/1.1',
  'GET /console/nothing.js HTTP/1.1',
  'GET /console/api/start HTTP/1.1',
  'GET /%zz HTTP/1.1',
  'GET //evil.test/ HTTP/1.1',
  'GET http://evil.test/livez HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT a.test:443 HTTP/1.1',
  'GET /livez HTTP/9.9',
  'GET /livez',
  'PRI * HTTP/2.0',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
] as const

const rawHeaders = [
  'Host: x',
  'Content-Length: 2',
  'Content-Length: 2',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Content-Length: 5, 5',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding : chunked',
  ' folded: value',
  'Connection: close',
  'Connection: upgrade',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'Expect: 100-continue',
  'Content-Type: application/json',
  'Content-Type: multipart/form-data; boundary=a',
  `X-Long: ${'a'.repeat(17_000)}`,
  'X-Nul: a\0b',
  'api_key: \xff\xfe',
  'Cookie: tg_session=',
  'Range: bytes=0-,0-,0-',
  ':',
  'a',
] as const

const rawBodies = [
  '',
  '{}',
  '{"a":',
  '0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  'FFFFFFFFFFFFFFFF\r\n',
  'GET / HTTP/1.1\r\n\r\n',
]

const rawText = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .record({
        line: fc.constantFrom(...requestLines),
        lines: fc.array(fc.constantFrom(...rawHeaders), { maxLength: 6 }),
        end: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r'),
        body: fc.constantFrom(...rawBodies),
      })
      .map(({ line, lines, end, body }) => [line, ...lines, '', body].join(end)),
  },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  },
)

export const rawCase: Arbitrary<RawCase> = fc.record({
  kind: fc.constant('raw' as const),
  text: rawText,
  damage,
})
