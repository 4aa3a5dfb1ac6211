// One way to the console's JSON API: typed by the route tables, errors as one class, the CSRF token kept here.
import {
  type ConsoleErrorCode,
  csrfHeader,
  type ErrorBody,
  pathOf,
  type Route,
  viewAsParameter,
} from '../../contract/console/route.ts'
import { type Me, sessionRoutes } from '../../contract/console/session.ts'
import { preferences } from '../frame/preferences.ts'
import { viewedAccount } from './view-as.ts'

export type Parts = Readonly<Record<string, string | number>>

export class ApiError extends Error {
  /** `offline` when no answer came at all, `missing` when the service knows no such route. */
  readonly code: ConsoleErrorCode | 'offline' | 'missing'
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

let csrfToken = ''
let onSignedOut: () => void = () => {}

export function rememberToken(me: Me): void {
  csrfToken = me.csrf_token
}

/** Who is told when the session turns out to have ended. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener
}

interface AskOptions {
  readonly parts?: Parts
  readonly signal?: AbortSignal
  /** Makes a repeat after a lost connection free. */
  readonly idempotencyKey?: string
}

export async function ask<Sent, Got>(
  wanted: Route<Sent, Got>,
  sent: Sent,
  options: AskOptions = {},
): Promise<Got> {
  try {
    return await askOnce(wanted, sent, options)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'csrf') {
      // Another tab has signed in anew: take up its token, then once more.
      rememberToken(await askOnce(sessionRoutes.me, {}, {}))
      return askOnce(wanted, sent, options)
    }
    if (error.code === 'unauthenticated') onSignedOut()
    throw error
  }
}

async function askOnce<Sent, Got>(wanted: Route<Sent, Got>, sent: Sent, options: AskOptions): Promise<Got> {
  const { method } = wanted
  const isRead = method === 'GET'
  const headers: Record<string, string> = {
    accept: 'application/json',
    'accept-language': preferences().language === 'zh' ? 'zh-CN' : 'en',
  }
  if (!isRead) {
    headers['content-type'] = 'application/json'
    headers[csrfHeader] = csrfToken
  }
  if (options.idempotencyKey !== undefined) headers['idempotency-key'] = options.idempotencyKey
  const response = await reach(addressOf<unknown>(wanted, isRead ? sent : {}, options.parts), {
    method,
    headers,
    ...(isRead ? {} : { body: JSON.stringify(sent) }),
    ...(options.signal ? { signal: options.signal } : {}),
  })
  const requestId = response.headers.get('x-request-id') ?? undefined
  const body = await readJson(response)
  if (response.ok && body !== undefined) return body as Got
  throw errorOf(wanted, response.status, body, requestId)
}

/** The address of a route, also for links to files. */
export function addressOf<Sent>(wanted: Route<Sent, unknown>, sent: Sent, parts: Parts = {}): string {
  const viewed = wanted.path.startsWith('/operator/') || wanted.method !== 'GET' ? undefined : viewedAccount()
  const query = sent as Readonly<Record<string, string | number | boolean | undefined>>
  return pathOf(wanted, parts, { ...query, ...(viewed === undefined ? {} : { [viewAsParameter]: viewed }) })
}

async function reach(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { credentials: 'same-origin', cache: 'no-store', ...init })
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

function errorOf(
  wanted: Pick<Route<unknown, unknown>, 'path'>,
  status: number,
  body: unknown,
  requestId: string | undefined,
): ApiError {
  const told = (body as Partial<ErrorBody> | undefined)?.error
  // A list cannot be "not found": the running service is older than this page.
  if (status === 404 && (told === undefined || !wanted.path.includes(':'))) {
    return new ApiError('missing', 'missing', { requestId })
  }
  if (told === undefined) return new ApiError('internal', `HTTP ${status}`, { requestId })
  return new ApiError(told.code, told.message, {
    requestId: told.request_id,
    ...(told.fields ? { fields: told.fields } : {}),
  })
}
