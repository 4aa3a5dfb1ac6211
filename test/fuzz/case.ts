// The types of fuzz cases, which are plain data so that a shrunken case can be printed, and the generators that all kinds share.
import fc, { type Arbitrary } from 'fast-check'
import { headerSafe, hostileText } from './words.ts'

export type ParameterLocation = 'body' | 'query' | 'header'

export type BodyKind = 'json' | 'form' | 'multipart'

/** Valid credentials, those of another account, or invalid ones. */
export type CredentialKind = 'valid' | 'otherAccount' | 'malformed' | 'none' | 'hostile'

export interface Damage {
  /** Position in the body as a fraction of its length. */
  readonly at: number
  readonly kind: 'flip' | 'cut' | 'insert'
  readonly byte: number
}

export interface ApiCase {
  readonly kind: 'api'
  readonly endpoint: string
  readonly method: string
  readonly credentials: CredentialKind
  readonly credentialsIn: ParameterLocation
  readonly bodyKind: BodyKind
  readonly parameters: readonly {
    readonly name: string
    readonly value: unknown
    readonly location: ParameterLocation
  }[]
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
  readonly who: 'account' | 'operator' | 'visitor'
  readonly token: 'valid' | 'invalid' | 'none'
  readonly pathParameter: string
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly damage: readonly Damage[]
}

export interface RawCase {
  readonly kind: 'raw'
  /** One character per byte. */
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
