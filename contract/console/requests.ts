// The request log: every API call of the account, newest first.
import { type Static, Type } from 'typebox'
import type { ParameterSource } from '../parameters.ts'
import { dayRange, Empty, optionalText, slice } from './fields.ts'
import { type CsvFile, type Moment, route, type Slice } from './route.ts'
import { type EndpointName, endpointNames } from './home.ts'

export interface RequestSummary {
  readonly id: number
  readonly request_id: string
  readonly at: Moment
  readonly endpoint: EndpointName
  /** Null when the call failed before its action was known. */
  readonly action: string | null
  readonly method: string
  readonly status: number
  /** The code of the response, 0 for success; the HTTP status for failures of the short link endpoint. */
  readonly code: number
  readonly ok: boolean
  /** The message of an error response. */
  readonly message: string | null
  readonly duration_ms: number
  readonly gateway: string | null
  readonly charged: number
  readonly given_back: number
  /** The stored response was sent again, by `Idempotency-Key`. */
  readonly replayed: boolean
}

export interface RequestParameter {
  readonly name: string
  readonly source: ParameterSource
  /** Masked: the API key, phones `138****8000`, names `张*`, ID numbers `110105********002X`, variables' values. */
  readonly value: unknown
}

export const requestSteps = ['checked', 'charged', 'gateway', 'settled'] as const

export interface RequestDetail extends RequestSummary {
  readonly address: string
  readonly idempotency_key: boolean
  readonly parameters: readonly RequestParameter[]
  /** The masked response body; long lists and texts are cut. Null when it was too large to store. */
  readonly answer: unknown
  /** When each step ended, in milliseconds after the first byte, in order. */
  readonly steps: readonly {
    readonly name: (typeof requestSteps)[number] | (string & {})
    readonly ms: number
  }[]
}

/**
 * A search reads a bounded number of calls at a time, so a page may be short or empty while `next` is not null. Request
 * the next page until `next` is null.
 */
export interface RequestSlice extends Slice<RequestSummary> {
  /** The newest id of the account: the `after` of the next live query. */
  readonly newest: number
  /** How many days calls are stored. */
  readonly kept_days: number
}

/** `q` is a whole request id, phone number, biz_id or short code. */
export const RequestFilter = Type.Object({
  ...dayRange,
  endpoint: Type.Optional(Type.Enum([...endpointNames] as [EndpointName, ...EndpointName[]])),
  /** The operation as the contract names it: `send`, `generate` … */
  action: Type.Optional(Type.String({ maxLength: 64 })),
  outcome: Type.Optional(Type.Enum(['ok', 'error'])),
  code: Type.Optional(Type.Integer({ minimum: 0, maximum: 9_999 })),
  q: optionalText,
})
export type RequestFilter = Static<typeof RequestFilter>

/** With `after`, only newer calls: for the live list. */
const RequestQuery = Type.Object({
  ...RequestFilter.properties,
  ...slice,
  after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
})

export const requestRoutes = {
  list: route('GET', '/requests', RequestQuery).returns<RequestSlice>(),
  csv: route('GET', '/requests.csv', RequestFilter).returns<CsvFile>(),
  /** By request id. */
  one: route('GET', '/requests/:id', Empty).returns<RequestDetail>(),
} as const

/** A result of the search box: calls of the account, and accounts for operators. */
export interface SearchHit {
  readonly kind: 'request' | 'account'
  /** The request id, or the account's id. */
  readonly id: string
  readonly title: string
  readonly detail: string
}

const SearchQuery = Type.Object({ q: Type.String({ maxLength: 200 }) })

export const searchRoutes = {
  search: route('GET', '/search', SearchQuery).returns<{ readonly items: readonly SearchHit[] }>(),
} as const
