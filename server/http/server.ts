// The HTTP server: time limits, the form of the request target, and Fastify behind the fast paths.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type FastifyInstance, fastify } from 'fastify'
import { createServer } from './node-http.ts'
import type { RequestIdOf } from './request-id.ts'
import type { AddressOf } from './address.ts'
import { bodyLimit, type TryHandle } from './endpoint.ts'
import { type ConnectionTimeouts, closeUnusedConnections } from './connection-timeouts.ts'
import { startInTurns } from './page-turns.ts'

/** Timeouts for receiving the headers and the whole request. Responses may take longer. */
const headersTimeoutMs = 5_000
const requestTimeoutMs = 15_000

export interface HttpServer {
  readonly app: FastifyInstance
  readonly server: Server
}

export interface HttpServerOptions {
  readonly tryFastPaths: TryHandle
  /** Called for every request that Fastify serves, before it waits for its turn. */
  readonly onPageRequest: (response: ServerResponse) => void
  readonly timeouts: ConnectionTimeouts
  readonly requestIdOf: RequestIdOf
  readonly addressOf: AddressOf
}

export function createHttpServer({
  tryFastPaths,
  onPageRequest,
  timeouts,
  requestIdOf,
  addressOf,
}: HttpServerOptions): HttpServer {
  const server = createServer({
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    // The default checks for slow clients only every 30 seconds.
    connectionsCheckingInterval: 1_000,
    // closeUnusedConnections ends idle connections.
    keepAliveTimeout: 0,
    // Creates no stream for a request without a body, which saves about 10 % of a redirect. Code that reads bodies must
    // check `readableEnded` first, because such a stream emits no `end` event.
    optimizeEmptyRequests: true,
  })
  closeUnusedConnections(server, timeouts)
  const app = fastify({
    serverFactory: (handler) => {
      const startPage = startInTurns(addressOf, handler, (request, response) =>
        rejectBusy(response, requestIdOf(request)),
      )
      return server.on('request', (request, response) => {
        if (!readTarget(request)) rejectTarget(response, requestIdOf(request))
        else if (!tryFastPaths(request, response)) {
          onPageRequest(response)
          startPage(request, response)
        }
      })
    },
    genReqId: requestIdOf,
    // Only public pages have HEAD: an export would run for nothing.
    exposeHeadRoutes: false,
    return503OnClosing: false,
    bodyLimit,
    // No route has a Fastify schema. Without these, Fastify loads its validator and its serializer at every start.
    schemaController: { compilersFactory: { buildValidator: rejectSchema, buildSerializer: rejectSchema } },
    routerOptions: { maxParamLength: 200 },
    // The router's own error message would repeat the URL, including a key or personal data in its query.
    frameworkErrors: (_error, { id }, { raw }) => rejectTarget(raw, id),
  })
  return { app, server }
}

const absoluteForm = /^https?:\/\/([^/?#@]+)(\/[^#]*|\?[^#]*)?$/i

/** Replaces an absolute URL by its path and host (RFC 9112). Returns false when the target or the Host is ambiguous. */
function readTarget(request: IncomingMessage): boolean {
  if (countHosts(request.rawHeaders) > 1) return false
  const target = request.url ?? ''
  if (target.charCodeAt(0) === 0x2f) return true
  const [, host, path = '/'] = absoluteForm.exec(target) ?? []
  // `OPTIONS *` and everything else is answered by the router.
  if (host === undefined) return !/^https?:/i.test(target)
  request.url = path.startsWith('/') ? path : `/${path}`
  request.headers.host = host
  return true
}

/** Node keeps the first of several Host headers, a proxy may have used another. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

function rejectTarget(response: ServerResponse, requestId: string): void {
  const message = '请求地址无效 / the address is not valid'
  reject(response, requestId, {
    status: 400,
    headers: { connection: 'close' },
    body: { code: 1002, message },
  })
}

function rejectBusy(response: ServerResponse, requestId: string): void {
  const message = '服务繁忙，请稍后重试 / the service is busy, try again shortly'
  reject(response, requestId, { status: 503, headers: { 'retry-after': '1' }, body: { code: 5000, message } })
}

function reject(
  response: ServerResponse,
  requestId: string,
  { status, headers, body }: { status: number; headers: Readonly<Record<string, string>>; body: object },
): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': requestId,
    ...headers,
  })
  response.end(JSON.stringify(body))
}

function rejectSchema(): never {
  throw new Error('routes have no Fastify schemas')
}
