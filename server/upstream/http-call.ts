// One HTTP call to an upstream: sent at most once, limited in time and size, with proof when nothing was sent.
import Agent from 'undici/lib/dispatcher/agent.js'
import type { Dispatcher } from 'undici'

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface HttpLimits {
  /** For the whole call, from the name lookup to the last byte of the body. */
  readonly timeoutMs: number
  readonly maxBodyBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Makes the connections; the agent of all gateways if left out. */
  readonly agent?: Agent | undefined
}

export interface HttpResponse {
  readonly kind: 'response'
  readonly status: number
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The body exceeded the limit: `body` is only its beginning. */
  readonly truncated: boolean
}

/** `reason` is a fixed word or an error code. URLs, headers and bodies contain phone and ID numbers. */
export type HttpResult =
  | HttpResponse
  | { readonly kind: 'not_sent'; readonly reason: string }
  | { readonly kind: 'ambiguous'; readonly reason: string }

const DEFAULT_MAX_BODY_BYTES = 256 * 1024

// A plain Agent follows no redirects and does not retry. No pipelining, because undici resends the requests queued behind
// a failed one. Idle connections close early (2 s before the server's keep-alive hint), because a request on a connection
// that the server is closing would be ambiguous.
const gatewayAgent = new Agent({
  pipelining: 1,
  allowH2: false,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 15_000,
  connect: { timeout: 3_000 },
  // The timer in httpCall limits the whole call.
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
    const exchange = createExchange(limits.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES, (result) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      resolve(result)
    })
    // setTimeout runs on the monotonic clock.
    const timer = setTimeout(() => exchange.cancel('timeout'), limits.timeoutMs)
    const onAbort = (): void => exchange.cancel('aborted')
    signal?.addEventListener('abort', onAbort, { once: true })

    const { agent = gatewayAgent } = limits
    agent.dispatch(
      {
        origin: target.origin,
        path: target.pathname + target.search,
        method: request.method,
        // The body is not decompressed, and without this header a server may compress it.
        headers: { 'accept-encoding': 'identity', ...request.headers },
        body: request.body === '' ? null : request.body,
      },
      exchange.handler,
    )
  })
}

interface Exchange {
  readonly handler: Dispatcher.DispatchHandler
  cancel(reason: string): void
}

/**
 * An error code cannot prove "not sent": ECONNRESET can come from a broken handshake or from a request that the server
 * has already processed. The proof is that undici has not called `onRequestStart`, which it calls immediately before it
 * writes the first byte of the request to the socket. Every failure before that is not sent, every later one ambiguous.
 */
function createExchange(maxBodyBytes: number, settle: (result: HttpResult) => void): Exchange {
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
  function respond(truncated: boolean): void {
    // A character cut in two at the limit becomes U+FFFD.
    const body = new TextDecoder().decode(Buffer.concat(chunks))
    end({ kind: 'response', status, headers, body, truncated })
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(current) {
      // Send nothing if the call was cancelled while connecting, or if undici tries to send the request a second time.
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
      const remaining = maxBodyBytes - received
      received += chunk.length
      chunks.push(chunk.subarray(0, remaining))
      if (chunk.length > remaining) {
        respond(true)
        current.abort(new Error('body too large'))
      }
    },
    onResponseEnd() {
      respond(false)
    },
    onResponseError(_current, error) {
      const reason = errorCode(error)
      // A 204 has no body. Simple servers send one nevertheless; undici takes its length for a body that is cut off.
      if (status === 204 && reason === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') respond(false)
      else fail(reason)
    },
  }

  return {
    handler,
    cancel(reason) {
      fail(reason)
      // Without a controller the request still waits in undici; onRequestStart aborts it there.
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

// Only the error code: messages contain host names and may quote header values.
function errorCode(error: Error): string {
  const code: unknown = 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : 'unknown_error'
}
