// What a case is: plain data, so that a shrunken one can be printed and read. And the parts every kind of case shares.
import fc, { type Arbitrary } from 'fast-check'
import { headerSafe, hostileText } from './words.ts'

export type Place = 'body' | 'query' | 'header'

export type BodyKind = 'json' | 'form' | 'multipart'

/** Who calls: the key's holder, a key of somebody else's, or nobody who is known. */
export type Credentials = 'right' | 'stranger' | 'malformed' | 'none' | 'hostile'

export interface Damage {
  /** Where in the body, as a part of its length. */
  readonly at: number
  readonly kind: 'flip' | 'cut' | 'insert'
  readonly byte: number
}

export interface ApiCase {
  readonly kind: 'api'
  readonly endpoint: string
  readonly method: string
  readonly credentials: Credentials
  readonly credentialsIn: Place
  readonly bodyKind: BodyKind
  readonly parameters: readonly { readonly name: string; readonly value: unknown; readonly place: Place }[]
  readonly contentType: string | undefined
  readonly encoding: 'utf8' | 'bom' | 'utf16le' | 'latin1' | 'gzip'
  readonly chunked: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly damage: readonly Damage[]
}

export interface ConsoleCase {
  readonly kind: 'console'
  readonly route: string
  readonly method: string
  readonly who: 'account' | 'operator' | 'nobody'
  readonly token: 'right' | 'wrong' | 'none'
  readonly part: string
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly damage: readonly Damage[]
}

export interface RawCase {
  readonly kind: 'raw'
  /** One character for each byte. */
  readonly text: string
  readonly damage: readonly Damage[]
}

export type FuzzCase = ApiCase | ConsoleCase | RawCase

export const damage: Arbitrary<readonly Damage[]> = fc.oneof(
  { weight: 9, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        kind: fc.constantFrom('flip', 'cut', 'insert'),
        byte: fc.nat(255),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  },
)

const headerName = fc.constantFrom(
  'accept-language',
  'idempotency-key',
  'x-forwarded-for',
  'x-request-id',
  'user-agent',
  'cookie',
  'origin',
  'sec-fetch-site',
  'content-encoding',
  'expect',
  'range',
  'if-none-match',
  'accept-encoding',
  'x-http-method-override',
  'forwarded',
  'referer',
  'purpose',
  'api-key',
  'template-params',
  'urls',
  'title',
)

export const headerText = hostileText.map(headerSafe)

export const headers = fc.dictionary(headerName, fc.oneof(headerText, fc.uuid()), { maxKeys: 3 })

export const contentTypes = [
  undefined,
  '',
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=gbk',
  'application/json;charset="latin1"',
  'application/vnd.x+json',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=gb18030',
  'multipart/form-data; boundary=fuzz',
  'multipart/form-data; boundary=other',
  'multipart/form-data',
  'text/plain',
  'text/xml',
  ';',
  'application/json, text/html',
] as const
