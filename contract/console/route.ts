// How a route of the console's JSON API is described: method, path and input schema; response schemas are in separate tables.
import type { Static, TObject, TSchema } from 'typebox'

/** All paths below are relative to this one. */
export const consoleApi = '/console/api'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Route<Input, Output> {
  readonly method: Method
  /** `pathOf` fills in the `:name` parts. */
  readonly path: string
  /** Schema of the query of a GET, and of the JSON body of every other method. */
  readonly input: TObject
  /** Never set; carries the types. */
  readonly types?: { readonly input: Input; readonly output: Output }
}

/** The response is a file. The browser opens such a route as a link. */
export interface CsvFile {
  readonly file: 'csv'
}

export function route<S extends TObject>(method: Method, path: string, input: S): Route<Static<S>, unknown> {
  return { method, path, input }
}

/** The value that a schema of a response describes; handlers return it and never change it. */
export type ResponseOf<S extends TSchema> = ReadonlyDeep<Static<S>>

type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
    : T

type WithResponses<Routes, Responses> = {
  readonly [K in keyof Routes & keyof Responses]: Routes[K] extends Route<infer Input, unknown>
    ? Route<Input, Responses[K] extends TSchema ? ResponseOf<Responses[K]> : never>
    : never
}

/**
 * Gives each route the type of the response of the same name. Routes do not refer to the schemas of responses at run
 * time, so that the build of the web console leaves them out; tests check every response against its schema.
 */
export function withResponses<Responses extends Readonly<Record<string, TSchema>>>(): <
  Routes extends { readonly [K in keyof Responses]: Route<unknown, unknown> },
>(
  routes: Routes & { readonly [K in Exclude<keyof Routes, keyof Responses>]: never },
) => WithResponses<Routes, Responses> {
  return (routes) => routes as never
}

/** The URL of a route on this origin. Undefined and empty query values are left out. */
export function pathOf(
  { path }: { readonly path: string },
  parts: Readonly<Record<string, string | number>> = {},
  query: Readonly<Record<string, string | number | boolean | undefined>> = {},
): string {
  const filled = path.replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(String(parts[name])))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return `${consoleApi}${filled}${text === '' ? '' : `?${text}`}`
}

/**
 * Every request other than GET carries this header with the token from `start`, `me` or `signIn`, and a JSON body (`{}`
 * when there is nothing to send). Signing in and up need no token.
 */
export const csrfHeader = 'x-csrf-token'

/**
 * An operator sees an account as its holder does by adding this to the query of any GET that is not an operator route.
 * Requests that change something are rejected with it.
 */
export const viewAsParameter = 'view_as'

/** The language of a downloaded file, `zh` or `en`: a link cannot send `accept-language`. */
export const languageParameter = 'lang'

/** A page of a list that only grows, newest first. `next` is the `before` of the following page, null at the end. */
export interface Slice<Item> {
  readonly items: readonly Item[]
  readonly next: number | null
}

/** Error codes for programs. The message is for people, in the language of `accept-language`. */
export const errorStatus = {
  /** `fields` says which fields are wrong and why. */
  invalid: 400,
  /** No session, or it ended. */
  unauthenticated: 401,
  /** Wrong user name or password. */
  wrong_credentials: 401,
  /** Name and password are right, and the account has a second factor: send a code to `secondStep`. */
  second_factor_required: 401,
  /** The token is missing or belongs to another session, or the request comes from another site. */
  csrf: 403,
  forbidden: 403,
  /** The account is suspended. */
  suspended: 403,
  /** The account has expired and can only read. */
  expired: 403,
  /** The change needs a confirmation within the last five minutes: call `confirm`, then repeat it. */
  confirmation_required: 403,
  /** OPERATOR_2FA=required: the operator has to enable the second factor before anything else. */
  enrolment_required: 403,
  /** Another account is shown read-only. */
  read_only: 403,
  not_found: 404,
  method_not_allowed: 405,
  /** The state has changed meanwhile. */
  conflict: 409,
  /** Not enough credits. */
  insufficient: 409,
  too_large: 413,
  /** Not sent as JSON. */
  not_json: 415,
  /** The Idempotency-Key came before, with other parameters. */
  other_parameters: 422,
  /** Retry after `retry_after` seconds. */
  too_many: 429,
  internal: 500,
  /** The gateway failed; the credits were refunded. */
  upstream: 502,
  unavailable: 503,
} as const

export type ConsoleErrorCode = keyof typeof errorStatus

export interface ErrorBody {
  readonly error: {
    readonly code: ConsoleErrorCode
    readonly message: string
    /** Messages by field name. */
    readonly fields?: Readonly<Record<string, string>>
    readonly request_id: string
    readonly retry_after?: number
  }
}
