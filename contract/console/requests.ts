// The inspector: every API call of the account, newest first.
import {
  type DayRange,
  type Empty,
  type File,
  type Moment,
  route,
  type Slice,
  type SliceQuery,
} from './route.ts'
import type { EndpointName } from './home.ts'

export interface RequestFilter extends DayRange {
  readonly endpoint?: EndpointName
  /** The operation as the interface's description names it: `send`, `generate` … */
  readonly action?: string
  readonly outcome?: 'ok' | 'error'
  readonly code?: number
  /** A request id, phone number, biz_id or short code, whole. */
  readonly q?: string
}

export interface RequestSummary {
  readonly id: number
  readonly request_id: string
  readonly at: Moment
  readonly endpoint: EndpointName
  /** Null when the call did not come that far. */
  readonly action: string | null
  readonly method: string
  readonly status: number
  /** The code of the answer, 0 for success; the HTTP status for failures of the short link endpoint. */
  readonly code: number
  readonly ok: boolean
  /** What the answer says, when it is an error. */
  readonly message: string | null
  readonly duration_ms: number
  readonly gateway: string | null
  readonly charged: number
  readonly given_back: number
  /** The first answer again, by `Idempotency-Key`. */
  readonly replayed: boolean
}

export type ParameterSource = 'header' | 'json' | 'form' | 'query'

export interface RequestParameter {
  readonly name: string
  readonly source: ParameterSource
  /** Masked: the key whole, phones `138****8000`, names `张*`, ID numbers `110105********002X`, variables' values. */
  readonly value: unknown
}

export const requestSteps = ['checked', 'charged', 'gateway', 'settled'] as const

export interface RequestDetail extends RequestSummary {
  readonly address: string
  readonly idempotency_key: boolean
  readonly parameters: readonly RequestParameter[]
  /** The answer's body, masked; long lists and texts are cut. Null when it was too large to keep. */
  readonly answer: unknown
  /** When each step was done, in milliseconds after the first byte; only steps that took place, in order. */
  readonly steps: readonly {
    readonly name: (typeof requestSteps)[number] | (string & {})
    readonly ms: number
  }[]
}

/**
 * A search looks at a bounded number of calls at a time: a page may hold fewer than asked for, even none, while `next` is
 * not null. Go on with it until it is.
 */
export interface RequestSlice extends Slice<RequestSummary> {
  /** The newest id there is for this account: the `after` of the next live look. */
  readonly newest: number
  /** For how many days calls are kept. */
  readonly kept_days: number
}

export const requestRoutes = {
  /** With `after`: only what came since, newest first, for the live list. */
  list: route<RequestFilter & SliceQuery & { readonly after?: number }, RequestSlice>('GET', '/requests'),
  csv: route<RequestFilter, File>('GET', '/requests.csv'),
  /** By the request id. */
  one: route<Empty, RequestDetail>('GET', '/requests/:id'),
} as const

/** What the search box finds: calls of the account; for operators accounts too. */
export interface SearchHit {
  readonly kind: 'request' | 'account'
  /** The request id, or the account's id. */
  readonly id: string
  readonly title: string
  readonly detail: string
}

export const searchRoutes = {
  search: route<{ readonly q: string }, { readonly items: readonly SearchHit[] }>('GET', '/search'),
} as const
