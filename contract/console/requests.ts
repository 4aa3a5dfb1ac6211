// The request log: the API calls of the account, newest first.
import { type Static, Type } from 'typebox'
import { route, withResponses } from './route.ts'
import { endpointName, requestSources } from './values.ts'
import { optionalText, slice, dayRange, Empty } from './fields.ts'
import type { requestResponses, searchResponses } from './responses/requests.ts'

export const requestSteps = ['checked', 'charged', 'gateway', 'settled'] as const

/** `q` is a whole request id, phone number, biz_id or short code. */
export const RequestFilter = Type.Object({
  ...dayRange,
  endpoint: Type.Optional(endpointName),
  /** The operation as the contract names it: `send`, `generate` … */
  action: Type.Optional(Type.String({ maxLength: 64 })),
  outcome: Type.Optional(Type.Enum(['ok', 'error'])),
  code: Type.Optional(Type.Integer({ minimum: 0, maximum: 9_999 })),
  source: Type.Optional(Type.Enum([...requestSources])),
  /** The whole address of the caller. */
  address: Type.Optional(Type.String({ maxLength: 64 })),
  /** Only calls that took at least this long. */
  min_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 })),
  q: optionalText,
})
export type RequestFilter = Static<typeof RequestFilter>

/** With `after`, only newer calls: for the live list. */
const RequestQuery = Type.Object({
  ...RequestFilter.properties,
  ...slice,
  after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
})

export const requestRoutes = withResponses<typeof requestResponses>()({
  list: route('GET', '/requests', RequestQuery),
  csv: route('GET', '/requests.csv', RequestFilter),
  /** By request id. */
  one: route('GET', '/requests/:id', Empty),
})

const SearchQuery = Type.Object({ q: Type.String({ maxLength: 200 }) })

export const searchRoutes = withResponses<typeof searchResponses>()({
  search: route('GET', '/search', SearchQuery),
})
