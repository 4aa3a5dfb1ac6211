// One call over HTTP: timeout, retries, and reading the response.
import { randomUUID } from 'node:crypto'
import {
  type Code,
  codes,
  TollgateApiError,
  TollgateConnectionError,
  TollgateTimeoutError,
} from './errors.ts'

export interface TransportOptions {
  readonly baseUrl: string
  readonly apiKey: string
  readonly timeoutMs: number
  readonly retries: number
  readonly longestWaitMs: number
  readonly language: 'zh' | 'en'
  readonly fetch: typeof fetch
}

export interface ApiRequest {
  readonly path: string
  readonly values: Readonly<Record<string, unknown>>
  /** Costs credits: sent with an idempotency key, so that a retry is not charged twice. */
  readonly paid: boolean
  /** Reads the body of a success; returns undefined for any other body. */
  readonly read: (body: Record<string, unknown>) => unknown
}

export interface CallOptions {
  /** For example an order number; random by default. Only for operations that cost credits. */
  readonly idempotencyKey?: string
  /** Aborts the call, including waits and retries. */
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** Safe to retry: nothing was executed, or the idempotency key prevents a second execution. */
const retryStatuses = new Set([409, 429, 500, 503])

const knownCodes: ReadonlySet<unknown> = new Set(Object.values(codes))

export async function call<T>(
  transport: TransportOptions,
  request: ApiRequest,
  options: CallOptions = {},
): Promise<T> {
  const idempotencyKey = request.paid ? (options.idempotencyKey ?? randomUUID()) : undefined
  for (let attempt = 0; ; attempt += 1) {
    try {
      return (await attemptCall(transport, request, options, idempotencyKey)) as T
    } catch (error) {
      options.signal?.throwIfAborted()
      const waitMs = attempt < transport.retries ? retryDelay(error, attempt) : undefined
      if (waitMs === undefined || waitMs > transport.longestWaitMs) throw error
      await sleep(waitMs, options.signal)
    }
  }
}

async function attemptCall(
  transport: TransportOptions,
  request: ApiRequest,
  options: CallOptions,
  idempotencyKey: string | undefined,
): Promise<unknown> {
  const timeoutMs = options.timeoutMs ?? transport.timeoutMs
  const timeout = AbortSignal.timeout(timeoutMs)
  let response: Response
  let text: string
  try {
    response = await transport.fetch(`${transport.baseUrl}${request.path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-language': transport.language,
        // Some proxies drop headers with underscores.
        'api-key': transport.apiKey,
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify(request.values),
      signal: options.signal ? anySignal(options.signal, timeout) : timeout,
    })
    text = await response.text()
  } catch (error) {
    options.signal?.throwIfAborted()
    const details = { idempotencyKey, cause: error }
    throw timeout.aborted
      ? new TollgateTimeoutError(`no response within ${timeoutMs} ms`, details)
      : new TollgateConnectionError(
          `the service at ${transport.baseUrl} could not be reached: ${reasonOf(error)}`,
          details,
        )
  }
  return readResponse(request, response, text, idempotencyKey)
}

/** `fetch` hides the reason in the cause of its error. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ((cause as { readonly code?: string }).code ?? cause.name)
}

function readResponse(
  request: ApiRequest,
  response: Response,
  text: string,
  idempotencyKey: string | undefined,
): unknown {
  const details = { requestId: response.headers.get('x-request-id') ?? undefined, idempotencyKey }
  const body = parseObject(text)
  if (!body) {
    throw new TollgateConnectionError(`HTTP ${response.status} without an answer of the service`, details)
  }
  const { code, message } = body
  const isError = typeof code === 'number' ? code !== 0 : response.status >= 400
  if (isError) {
    const error = {
      status: response.status,
      code: knownCodes.has(code) ? (code as Code) : undefined,
      retryAfter: readSeconds(response.headers.get('retry-after')),
    }
    throw new TollgateApiError(
      typeof message === 'string' ? message : `HTTP ${response.status}`,
      error,
      details,
    )
  }
  const result = request.read(body)
  if (result === undefined) {
    throw new TollgateConnectionError(`HTTP ${response.status} without an answer of the service`, details)
  }
  return result
}

/** Milliseconds to wait before a retry; undefined if a retry is useless. */
function retryDelay(error: unknown, attempt: number): number | undefined {
  const backoff = 250 * 2 ** attempt * (0.5 + Math.random())
  if (error instanceof TollgateTimeoutError || error instanceof TollgateConnectionError) return backoff
  if (!(error instanceof TollgateApiError)) return undefined
  // A service may be configured to return HTTP 200 for errors; then the code and the header decide.
  const canRetry =
    retryStatuses.has(error.status) || error.code === codes.internal || error.retryAfter !== undefined
  if (!canRetry) return undefined
  return error.retryAfter === undefined ? backoff : error.retryAfter * 1000
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function readSeconds(header: string | null): number | undefined {
  const seconds = Number(header)
  return header !== null && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

/** AbortSignal.any requires Node 20. */
function anySignal(one: AbortSignal, other: AbortSignal): AbortSignal {
  const controller = new AbortController()
  for (const signal of [one, other]) {
    if (signal.aborted) controller.abort(signal.reason)
    else
      signal.addEventListener('abort', () => controller.abort(signal.reason), {
        once: true,
        signal: controller.signal,
      })
  }
  return controller.signal
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
