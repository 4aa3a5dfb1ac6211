// How a route of the console's JSON API is described: its method and path as data, what is sent and what comes back as types.

/** Where the API stands. Paths in the tables below are relative to it. */
export const consoleApi = '/console/api'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * `Sent` is the query of a GET and the JSON body of everything else; `Got` is the JSON answer. A route that answers with a
 * file (`.csv`) is opened as a link, not fetched.
 */
export interface Route<Sent, Got> {
  readonly method: Method
  /** `:name` parts are filled in by `pathOf`. */
  readonly path: string
  /** Never there at run time; they carry the types. */
  readonly sent?: Sent
  readonly got?: Got
}

/** Nothing is sent, or nothing comes back but `{}`. */
export type Empty = Readonly<Record<never, never>>

/** Answers with a file. */
export interface File {
  readonly file: 'csv'
}

export function route<Sent, Got>(method: Method, path: string): Route<Sent, Got> {
  return { method, path }
}

/** The address of a route on this origin, with the `:name` parts filled in and a query of what is not undefined. */
export function pathOf(
  { path }: Pick<Route<unknown, unknown>, 'path'>,
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
 * Every changing call (anything but GET) carries this header with the token that `start`, `me` and `signIn` tell, a JSON
 * body (`{}` when there is nothing to send) and `content-type: application/json`. Signing in and up need no token.
 */
export const csrfHeader = 'x-csrf-token'

/**
 * An operator looks at an account as its holder sees it by adding this to the query of any GET below that is not an
 * operator's own. Changing calls with it are refused.
 */
export const viewAsParameter = 'view_as'

/** Moments are milliseconds since 1970. Days are `YYYY-MM-DD` in Asia/Shanghai, inclusive. */
export type Moment = number
export type Day = string

/** Of lists that only grow, newest first: `next` is the `before` of the following page, null at the end. */
export interface Slice<Item> {
  readonly items: readonly Item[]
  readonly next: number | null
}

export interface SliceQuery {
  /** What a page ended with. */
  readonly before?: number
  /** 1 to 200, 50 when left out. */
  readonly size?: number
}

/** Of lists that are sorted and paged at will. Pages begin at 1. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly total: number
  readonly page: number
  readonly size: number
}

export interface PageQuery {
  readonly page?: number
  /** 1 to 200, 20 when left out. */
  readonly size?: number
}

export interface DayRange {
  readonly from?: Day
  readonly to?: Day
}

/** Every changing step of an operator says why; it lands in the audit log. */
export interface Noted {
  readonly note: string
}

/** What went wrong, as a word for the program; the message is for people, in the language of `accept-language`. */
export const errorStatus = {
  /** Fields are wrong: `fields` says which and why. */
  invalid: 400,
  /** No session, or it has ended: sign in again. */
  unauthenticated: 401,
  /** Signing in: user name or password wrong. */
  wrong_credentials: 401,
  /** The token is missing or of another session, or the call comes from elsewhere: reload and try again. */
  csrf: 403,
  forbidden: 403,
  /** The account is suspended. */
  suspended: 403,
  /** The account has expired: it can read, but neither consume nor change. */
  expired: 403,
  /** Another account is only looked at. */
  read_only: 403,
  not_found: 404,
  method_not_allowed: 405,
  /** Somebody was faster, or it is not in the state for this: reload. */
  conflict: 409,
  /** Not enough credits. */
  insufficient: 409,
  too_large: 413,
  /** Not sent as JSON. */
  not_json: 415,
  /** Too often: `retry_after` seconds. */
  too_many: 429,
  internal: 500,
  /** The product's gateway failed; what it cost was given back. */
  upstream: 502,
  unavailable: 503,
} as const

export type ConsoleErrorCode = keyof typeof errorStatus

export interface ErrorBody {
  readonly error: {
    readonly code: ConsoleErrorCode
    readonly message: string
    /** By the name of the field as it was sent. */
    readonly fields?: Readonly<Record<string, string>>
    readonly request_id: string
    readonly retry_after?: number
  }
}
