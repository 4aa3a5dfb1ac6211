// Client of the console's JSON API, typed by the routes of the contract: errors, CSRF token, idempotency keys.
import {
  type ConsoleErrorCode,
  csrfHeader,
  type ErrorBody,
  languageParameter,
  pathOf,
  type Route,
  viewAsParameter,
} from '../../contract/console/route.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import type { Me } from '../../contract/console/responses/session.ts'
import { preferences } from '../frame/preferences.ts'
import { takeFirstRead } from './first-start.ts'
import { asSentence } from './sentence.ts'
import { viewedAccount } from './view-as.ts'

/** Values for the `:name` segments of a route's path. */
export type PathParams = Readonly<Record<string, string | number>>

export class ApiError extends Error {
  /**
   * `offline`: no response arrived. `unreadable`: it was cut off, or did not come from the service, such as the error page of
   * a proxy. `missing`: the running service does not have this route. `other_user`: another account has signed in with this
   * browser since the page was opened.
   */
  readonly code: ConsoleErrorCode | 'offline' | 'unreadable' | 'missing' | 'other_user'
  readonly requestId: string | undefined
  readonly fields: Readonly<Record<string, string>>

  constructor(
    code: ApiError['code'],
    message: string,
    more: { requestId?: string | undefined; fields?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.name = 'ApiError'
    this.code = code
    this.requestId = more.requestId
    this.fields = more.fields ?? {}
  }
}

/** Whether the call may have been executed, because nothing came back from the service. */
export function isUncertain(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'offline' || error.code === 'unreadable')
}

let csrfToken = ''
let userId: number | undefined
let sessionEnded: () => void = () => {}
let confirmIdentity: () => Promise<boolean> = async () => false
let confirming: Promise<boolean> | undefined

export function setCsrfToken(me: Me): void {
  csrfToken = me.csrf_token
  userId = me.user.id
}

/** Sets the listener that is called when a response says that the session has ended. */
export function onSessionEnded(listener: () => void): void {
  sessionEnded = listener
}

/** Sets what asks the user to confirm who they are; it resolves to whether they did. */
export function onConfirmationRequired(listener: () => Promise<boolean>): void {
  confirmIdentity = listener
}

/** Calls that need the confirmation at the same time share one question. */
function confirmOnce(): Promise<boolean> {
  return (confirming ??= confirmIdentity().finally(() => {
    confirming = undefined
  }))
}

interface CallOptions {
  readonly params?: PathParams
  readonly signal?: AbortSignal
  readonly idempotencyKey?: string
  /** The body of an upload; the input is then in the query. */
  readonly file?: File
}

/** Calls a route. `input` is the query of a GET request and the JSON body of any other. */
export async function callApi<Input, Result>(
  route: Route<Input, Result>,
  input: Input,
  options: CallOptions = {},
): Promise<Result> {
  try {
    return await sendWithToken(route, input, options)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'confirmation_required' && (await confirmOnce())) return send(route, input, options)
    if (error.code === 'unauthenticated' || error.code === 'other_user') sessionEnded()
    throw error
  }
}

/** When another tab has signed in again, takes its token and retries once, but never as another user. */
async function sendWithToken<Input, Result>(
  route: Route<Input, Result>,
  input: Input,
  options: CallOptions,
): Promise<Result> {
  try {
    return await send(route, input, options)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'csrf') throw error
    const me = await send(sessionRoutes.me, {}, {})
    if (userId !== undefined && me.user.id !== userId)
      throw new ApiError('other_user', error.message, { requestId: error.requestId, cause: error })
    setCsrfToken(me)
    return send(route, input, options)
  }
}

async function send<Input, Result>(
  route: Route<Input, Result>,
  input: Input,
  options: CallOptions,
): Promise<Result> {
  const { method } = route
  const isRead = method === 'GET'
  const url = routeUrl<unknown>(route, isRead || options.file ? input : {}, options.params)
  const headers: Record<string, string> = {
    accept: 'application/json',
    'accept-language': preferences().language === 'zh' ? 'zh-CN' : 'en',
  }
  if (!isRead) {
    headers['content-type'] = options.file ? 'application/octet-stream' : 'application/json'
    headers[csrfHeader] = csrfToken
  }
  if (options.idempotencyKey !== undefined) headers['idempotency-key'] = options.idempotencyKey
  const response =
    (isRead ? await takeFirstRead(url) : undefined) ??
    (await fetchOrOffline(url, {
      method,
      headers,
      ...(isRead ? {} : { body: options.file ?? JSON.stringify(input) }),
      ...(options.signal ? { signal: options.signal } : {}),
    }))
  const requestId = response.headers.get('x-request-id') ?? undefined
  const body = await readJson(response)
  if (response.ok && body !== undefined) return body as Result
  throw toApiError(route, response.status, body, requestId)
}

/** The URL of a route. */
export function routeUrl<Query>(route: Route<Query, unknown>, query: Query, params: PathParams = {}): string {
  const viewed = route.path.startsWith('/operator/') || route.method !== 'GET' ? undefined : viewedAccount()
  return pathOf(route, params, {
    ...(query as Readonly<Record<string, string | number | boolean | undefined>>),
    ...(viewed === undefined ? {} : { [viewAsParameter]: viewed }),
  })
}

/** A link to a file, in the language of the console: the browser would ask for its own. */
export function fileUrl<Query>(route: Route<Query, unknown>, query: Query, params: PathParams = {}): string {
  const address = routeUrl(route, query, params)
  return `${address}${address.includes('?') ? '&' : '?'}${languageParameter}=${preferences().language}`
}

async function fetchOrOffline(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { credentials: 'same-origin', cache: 'no-store', ...init })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new ApiError('offline', 'offline', { cause: error })
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}

function toApiError(
  route: Pick<Route<unknown, unknown>, 'path'>,
  status: number,
  body: unknown,
  requestId: string | undefined,
): ApiError {
  const error = (body as Partial<ErrorBody> | undefined)?.error
  // A path without parameters always exists, unless the running service is older than this page.
  if (status === 404 && (error === undefined || !route.path.includes(':'))) {
    return new ApiError('missing', 'missing', { requestId })
  }
  if (typeof error?.message !== 'string') return new ApiError('unreadable', `HTTP ${status}`, { requestId })
  return new ApiError(error.code, asSentence(error.message), {
    requestId: error.request_id,
    ...(error.fields ? { fields: error.fields } : {}),
  })
}
