// Responses of the request log and the search box.
import { Type } from 'typebox'
import { parameterSources } from '../../parameters.ts'
import type { ResponseOf } from '../route.ts'
import { endpointName, requestSources } from '../values.ts'
import { moment, orNull, extend, listOf, sliceOf, csvFile } from './fields.ts'

export const RequestSummary = Type.Object({
  id: Type.Integer(),
  request_id: Type.String(),
  at: moment,
  endpoint: endpointName,
  /** Null when the call failed before its action was known. */
  action: orNull(Type.String()),
  method: Type.String(),
  status: Type.Integer(),
  /** The code of the response, 0 for success; the HTTP status for failures of the short link endpoint. */
  code: Type.Integer(),
  ok: Type.Boolean(),
  /** The message of an error response. */
  message: orNull(Type.String()),
  duration_ms: Type.Number(),
  gateway: orNull(Type.String()),
  charged: Type.Integer(),
  given_back: Type.Integer(),
  /** The stored response was sent again, by `Idempotency-Key`. */
  replayed: Type.Boolean(),
  source: Type.Enum([...requestSources]),
})
export type RequestSummary = ResponseOf<typeof RequestSummary>

export const RequestParameter = Type.Object({
  name: Type.String(),
  source: Type.Enum([...parameterSources]),
  /** Masked: the API key, phones `138****8000`, names `张*`, ID numbers `110105********002X`, variables' values. */
  value: Type.Unknown(),
})
export type RequestParameter = ResponseOf<typeof RequestParameter>

export const RequestDetail = extend(RequestSummary, {
  address: Type.String(),
  idempotency_key: Type.Boolean(),
  parameters: Type.Array(RequestParameter),
  /** The masked response body; long lists and texts are cut. Null when it was too large to store. */
  answer: Type.Unknown(),
  /** When each step ended, in milliseconds after the first byte, in order. */
  steps: Type.Array(
    Type.Object({
      name: Type.String(),
      ms: Type.Number(),
    }),
  ),
})
export type RequestDetail = ResponseOf<typeof RequestDetail>

/**
 * A search reads a bounded number of calls at a time, so a page may be short or empty while `next` is not null. Request
 * the next page until `next` is null.
 */
const RequestSlice = extend(sliceOf(RequestSummary), {
  /** The newest id of the account: the `after` of the next live query. */
  newest: Type.Integer(),
  /** How many days calls are stored. */
  kept_days: Type.Integer(),
  /** Failed and free calls of today that were counted but not recorded, because the daily budget is used up. */
  skipped_today: Type.Integer(),
})

export const requestResponses = {
  list: RequestSlice,
  csv: csvFile,
  one: RequestDetail,
}

/** A result of the search box: calls of the account, and accounts for operators. */
export const SearchHit = Type.Union([
  Type.Object({
    kind: Type.Literal('request'),
    /** The request id. */
    id: Type.String(),
    at: moment,
    endpoint: endpointName,
    action: orNull(Type.String()),
  }),
  Type.Object({
    kind: Type.Literal('account'),
    id: Type.String(),
    username: Type.String(),
    role: Type.Enum(['account', 'operator']),
  }),
])
export type SearchHit = ResponseOf<typeof SearchHit>

export const searchResponses = {
  search: listOf(SearchHit),
}
