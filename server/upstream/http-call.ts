// One HTTP call to an upstream: made once, bounded in time and size, and exact about whether it can have been sent.

import { isRecord } from '../../contract/values.ts'
import { Agent } from 'undici'
import type { Dispatcher } from 'undici'

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface HttpLimits {
  /** For the whole call: name lookup, connecting, sending, waiting and reading the body. */
  readonly timeoutMs: number
  readonly maxBodyBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface HttpAnswer {
  readonly kind: 'answer'
  readonly status: number
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The body was longer than allowed and reading was stopped: what is here is only its beginning. */
  readonly truncated: boolean
}

/** `reason` is a fixed word or an error code: URLs, headers and bodies hold phone and ID numbers and stay out of it. */
export type HttpResult =
  | HttpAnswer
  | { readonly kind: 'not_sent'; readonly reason: string }
  | { readonly kind: 'ambiguous'; readonly reason: string }

const DEFAULT_MAX_BODY_BYTES = 256 * 1024

// A plain Agent follows no redirect and retries nothing. One request at a time per connection, because undici sends the
// requests queued behind a failed one again. Idle connections are dropped early (a server's own hint is honoured less
// 2 s), because a request that meets a connection just being closed ends as ambiguous.
const agent = new Agent({
  pipelining: 1,
  allowH2: false,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 15_000,
  connect: { timeout: 3_000 },
  // The timer in httpCall covers the whole call.
  headersTimeout: 0,
  bodyTimeout: 0,
})

/** Never rejects. */
export function httpCall(request: HttpRequest, limits: HttpLimits): Promise<HttpResult> {
  const { signal } = limits
  const target = parseHttpUrl(request.url)
  if (target === undefined) return Promise.resolve({ kind: 'not_sent', reason: 'invalid_url' })
  if (signal?.aborted === true) return Promise.resolve({ kind: 'not_sent', reason: 'aborted' })

  return new Promise((resolve) => {
    const exchange = openExchange(limits.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES, (result) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      resolve(result)
    })
    // setTimeout runs on the monotonic clock.
    const timer = setTimeout(() => exchange.giveUp('timeout'), limits.timeoutMs)
    const onAbort = (): void => exchange.giveUp('aborted')
    signal?.addEventListener('abort', onAbort, { once: true })

    agent.dispatch(
      {
        origin: target.origin,
        path: target.pathname + target.search,
        method: request.method,
        // Nothing here unpacks gzip, and silence about encodings allows a server to use it.
        headers: { 'accept-encoding': 'identity', ...request.headers },
        body: request.body === '' ? null : request.body,
      },
      exchange.handler,
    )
  })
}

/** A JSON object, or undefined for everything else: not JSON, an array, a bare value. Never throws. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

interface Exchange {
  readonly handler: Dispatcher.DispatchHandler
  giveUp(reason: string): void
}

/**
 * The proof of "not sent" is not an error code: the same ECONNRESET comes from a broken handshake and from a request the
 * server has already worked on. It is that undici never reached `onRequestStart`, which it calls immediately before the
 * first byte of a request is given to the socket. Before that everything is not sent, after it everything is ambiguous.
 */
function openExchange(maxBodyBytes: number, settle: (result: HttpResult) => void): Exchange {
  let settled = false
  let controller: Dispatcher.DispatchController | undefined
  let status = 0
  let headers: Record<string, string> = {}
  let received = 0
  const chunks: Buffer[] = []

  function end(result: HttpResult): void {
    if (settled) return
    settled = true
    settle(result)
  }
  function fail(reason: string): void {
    end({ kind: controller === undefined ? 'not_sent' : 'ambiguous', reason })
  }
  function answer(truncated: boolean): void {
    // Not fatal: a character cut in two at the limit becomes U+FFFD.
    const body = new TextDecoder().decode(Buffer.concat(chunks))
    end({ kind: 'answer', status, headers, body, truncated })
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(current) {
      // Two ways to come here and still send nothing: the call was given up while connecting, or undici wants to send
      // a second time what it has already sent once.
      if (settled || controller !== undefined) {
        fail('second_send_prevented')
        current.abort(new Error('not sent'))
        return
      }
      controller = current
    },
    onResponseStart(_current, statusCode, rawHeaders) {
      status = statusCode
      headers = joinHeaders(rawHeaders)
    },
    onResponseData(current, chunk) {
      if (settled) return
      const room = maxBodyBytes - received
      received += chunk.length
      chunks.push(chunk.subarray(0, room))
      if (chunk.length > room) {
        answer(true)
        current.abort(new Error('body too large'))
      }
    },
    onResponseEnd() {
      answer(false)
    },
    onResponseError(_current, error) {
      fail(errorCode(error))
    },
  }

  return {
    handler,
    giveUp(reason) {
      fail(reason)
      // Without a controller the request still waits inside undici; onRequestStart stops it there.
      controller?.abort(new Error(reason))
    },
  }
}

function parseHttpUrl(text: string): URL | undefined {
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url : undefined
}

function joinHeaders(raw: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return headers
}

// Only the code, and only if it looks like one: messages name hosts and may quote header values.
function errorCode(error: Error): string {
  const code: unknown = 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : 'unknown_error'
}
