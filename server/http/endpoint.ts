// Serves the endpoints of the contract on bare node:http: method, body, handler, response.
//
// A router and its hooks would double the cost of a call, and four fixed paths need no router. Everything else is served
// by Fastify.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Endpoint } from '../../contract/endpoint.ts'
import { type AddressOf, networkOf } from './address.ts'
import { type BodyBuffers, createBodyBuffers } from './body-buffers.ts'
import { decodeBody } from './body.ts'
import { type Call, createCall, languageOf } from './call.ts'
import { keepAliveHint } from './connection-timeouts.ts'
import { AppError, malformed, tooFrequent } from './errors.ts'
import { QueueFull } from './fair-queue.ts'
import { parseForm } from './form.ts'
import { isFragmented, type LargeBodies, smallBodyBytes } from './large-bodies.ts'
import type { ParameterSources } from './parameters.ts'
import type { RefusedCalls } from './refused-calls.ts'
import type { RequestIdOf } from './request-id.ts'
import { type ApiResponse, errorResponse, type ErrorResponseOptions } from './responses.ts'

export const bodyLimit = 1_048_576

/** A larger body is read up to here and discarded: many clients send the whole body before they read the response. */
const discardLimit = 16 * bodyLimit

/** Decoding less takes no time worth counting. */
const minCountedBytes = 1_024

export interface HttpContext extends ErrorResponseOptions {
  readonly addressOf: AddressOf
  readonly requestIdOf: RequestIdOf
  readonly largeBodies: LargeBodies
  readonly refusedCalls: RefusedCalls
  /** True from SIGTERM on: running calls finish, new ones are rejected. */
  readonly isStopping: () => boolean
  /** Called for every response. Must neither throw nor block. */
  readonly onResponse: (completed: CompletedCall) => void
  /** Called for every internal error. */
  readonly onError: (error: unknown, requestId: string) => void
}

export interface CompletedCall {
  readonly endpoint: Endpoint
  readonly requestId: string
  readonly method: string
  readonly response: ApiResponse
  readonly durationMs: number
  /** Undefined when the request could not be read. */
  readonly call: Call | undefined
}

export type Handler = (call: Call) => Promise<ApiResponse>

export interface ServedEndpoint {
  readonly endpoint: Endpoint
  readonly handle: Handler
}

/** Returns false when the path of the request belongs to another handler. */
export type TryHandle = (request: IncomingMessage, response: ServerResponse) => boolean

interface EndpointContext extends HttpContext {
  readonly buffers: BodyBuffers
}

export function serveEndpoints(http: HttpContext, served: readonly ServedEndpoint[]): TryHandle {
  const context: EndpointContext = { ...http, buffers: createBodyBuffers(bodyLimit) }
  const byPath = new Map(served.map((one) => [one.endpoint.path, one]))
  return (request, response) => {
    const url = request.url ?? ''
    const mark = url.indexOf('?')
    const one = byPath.get(mark === -1 ? url : url.slice(0, mark))
    if (!one) return false
    void handleRequest(context, one, request, response, mark === -1 ? undefined : url.slice(mark + 1))
    return true
  }
}

async function handleRequest(
  context: EndpointContext,
  { endpoint, handle }: ServedEndpoint,
  request: IncomingMessage,
  response: ServerResponse,
  query: string | undefined,
): Promise<void> {
  const startedAt = performance.now()
  const requestId = context.requestIdOf(request)
  let call: Call | undefined
  let result: ApiResponse
  try {
    if (!(endpoint.methods as readonly string[]).includes(request.method ?? '')) {
      throw methodNotAllowed(endpoint)
    }
    if (context.isStopping()) throw stopping()
    const turn = context.refusedCalls.turnOf(() => networkOf(context.addressOf(request)))
    if (turn) await untilTurn(turn, request)
    // Without a body the stream has already ended and emits nothing any more.
    const hasBody = request.method !== 'GET' && !request.readableEnded
    const body = hasBody ? await readBody(context, request) : undefined
    const sources = await readSources(context, endpoint, request, query, body)
    call = createCall(endpoint, requestId, request, context.addressOf(request), sources, startedAt)
    result = await handle(call)
  } catch (error) {
    if (error instanceof ConnectionClosed) {
      // A stop waits for every response that was not ended.
      response.end()
      return
    }
    context.refusedCalls.count(networkOf(context.addressOf(request)))
    const known = toAppError(call?.sources.ignoredForm ? explainIgnoredForm(error) : error)
    if (known.code === 5000 && known.status !== 503) context.onError(error, requestId)
    result = errorResponse(endpoint.shape, known, languageOf(request), context)
  }
  const durationMs = performance.now() - startedAt
  context.onResponse({
    endpoint,
    requestId,
    method: request.method ?? '',
    response: result,
    durationMs,
    call,
  })
  send(context, response, requestId, result, call)
}

/** For calls that other handlers perform: those of the console and of MCP. */
export function reportResponse({ onResponse }: HttpContext, call: Call, response: ApiResponse): void {
  const { endpoint, requestId, trace } = call
  const durationMs = performance.now() - trace.startedAt
  onResponse({ endpoint, requestId, method: 'POST', response, durationMs, call })
}

/** The client closed the connection before the request was complete. */
class ConnectionClosed extends Error {}

async function untilTurn(turn: Promise<void>, request: IncomingMessage): Promise<void> {
  await turn.catch((error: unknown) => {
    throw error instanceof QueueFull ? tooFrequent(1) : error
  })
  // Such a stream emits nothing any more.
  if (request.socket.destroyed) throw new ConnectionClosed()
}

/** A body, and where a large one takes its turns. */
interface ReceivedBody {
  readonly bytes: Buffer
  readonly turns: { readonly address: string; readonly release: () => void } | undefined
}

/** What is small is decoded at once. A query alone may take as long as a body of its size. */
function readSources(
  { addressOf, largeBodies }: HttpContext,
  endpoint: Endpoint,
  request: IncomingMessage,
  query: string | undefined,
  received: ReceivedBody | undefined,
): ParameterSources | Promise<ParameterSources> {
  const bytes = received?.bytes
  const decode = () => decodeSources(endpoint, request, query, bytes)
  if (received?.turns) {
    const { address, release } = received.turns
    return largeBodies.decode(address, received.bytes.length, decode).finally(release)
  }
  if ((query?.length ?? 0) + (bytes?.length ?? 0) < minCountedBytes) return decode()
  return largeBodies.decodeSmall(() => networkOf(addressOf(request)), decode)
}

/** Reads a small body immediately. A larger one waits for its turn after its first bytes. */
function readBody(
  { addressOf, largeBodies, buffers }: EndpointContext,
  request: IncomingMessage,
): Promise<ReceivedBody> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length']) > discardLimit) {
      reject(tooLarge())
      return
    }
    const isChunked = request.headers['transfer-encoding'] !== undefined
    const chunks: Buffer[] = []
    /** Has the chunks of a large body from its turn on. */
    let buffer: Buffer | undefined
    let received = 0
    let size = 0
    let turns: ReceivedBody['turns']
    let isLarge = false
    let isOver = false
    let refused: AppError | undefined
    const fail = (error: Error) => {
      if (isOver) return
      isOver = true
      turns?.release()
      reject(error)
    }
    const waitForTurn = () => {
      isLarge = true
      request.pause()
      const address = networkOf(addressOf(request))
      largeBodies
        .begin(address)
        .then((release) => {
          // The client may have left while it waited.
          if (isOver) return release()
          const own = buffers.take()
          let end = 0
          for (const chunk of chunks.splice(0)) end += chunk.copy(own, end)
          buffer = own
          turns = {
            address,
            release() {
              buffers.giveBack(own)
              release()
            },
          }
        })
        .catch((error: unknown) => {
          refused = error instanceof QueueFull ? tooFrequent(1) : toAppError(error)
          chunks.length = 0
        })
        .finally(() => request.resume())
    }
    request.on('data', (chunk: Buffer) => {
      received += 1
      size += chunk.length
      if (isChunked && isFragmented(received, size)) {
        request.pause()
        fail(fragmented())
        return
      }
      if (size > smallBodyBytes && !isLarge) waitForTurn()
      if (size <= bodyLimit && refused === undefined) {
        if (buffer) chunk.copy(buffer, size - chunk.length)
        else chunks.push(chunk)
      } else if (size <= discardLimit) chunks.length = 0
      else {
        request.pause()
        fail(tooLarge())
      }
    })
    request.on('end', () => {
      if (size > bodyLimit) fail(tooLarge())
      else if (refused !== undefined) fail(refused)
      else {
        isOver = true
        const bytes = buffer?.subarray(0, size) ?? (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
        resolve({ bytes, turns })
      }
    })
    request.on('error', () => fail(new ConnectionClosed()))
  })
}

function tooLarge(): AppError {
  return new AppError(
    1002,
    { zh: '请求体超过 1 MiB', en: 'The body is larger than 1 MiB' },
    // The rest of the body is not read.
    { status: 413, headers: { connection: 'close' } },
  )
}

function fragmented(): AppError {
  return new AppError(
    1002,
    {
      zh: '请求体的分块过小，请以较大的分块或 Content-Length 发送',
      en: 'The chunks of the body are too small: send larger ones, or a Content-Length',
    },
    // The rest of the body is not read.
    { status: 400, headers: { connection: 'close' } },
  )
}

function decodeSources(
  endpoint: Endpoint,
  { headers }: IncomingMessage,
  queryText: string | undefined,
  body: Buffer | undefined,
): ParameterSources {
  const query = queryText === undefined ? undefined : parseForm(queryText, 'utf-8')
  if (body === undefined) return { headers, query }
  const { json, form, ignoredForm } = decodeBody({
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    body,
    readForms: endpoint.readsForms,
  })
  return { headers, json, form, query, ignoredForm }
}

function methodNotAllowed(endpoint: Endpoint): AppError {
  const allow = endpoint.methods.join(', ')
  const text = { zh: `只支持 ${allow} 请求`, en: `Only ${allow} is supported` }
  return new AppError(1002, text, { status: 405, headers: { allow } })
}

/** What is missing may be in the form. */
function explainIgnoredForm(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 1001) return error
  const { status, headers, fields } = error
  const text = {
    zh: `${error.text.zh}；只支持 JSON 请求体（Content-Type: application/json），表单未读取`,
    en: `${error.text.en}; only a JSON body (Content-Type: application/json) is supported, the form was not read`,
  }
  return new AppError(1001, text, { status, headers, ...(fields && { fields }) })
}

export function stopping(): AppError {
  return new AppError(
    5000,
    { zh: '服务正在重启，请稍后重试', en: 'The service is restarting, please try again shortly' },
    { status: 503, retryAfter: 5, headers: { connection: 'close' } },
  )
}

/** For pages that are no API calls, such as shared statistics. */
export function toPageError(error: unknown): AppError {
  if (!(error instanceof Error) || error.name !== 'DatabaseUnavailable') return toAppError(error)
  return new AppError(
    5000,
    { zh: '数据库暂时不可用，请稍后再试', en: 'The database is not available right now, try again shortly' },
    { status: 503, retryAfter: 5, cause: error },
  )
}

/** Errors of Fastify get our messages; an unexpected error becomes an internal error without details. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status === 413) {
    // Routes have limits of their own.
    const text = { zh: '请求体过大', en: 'The body is too large' }
    return new AppError(1002, text, { status: 413, cause: error })
  }
  if (status >= 400 && status < 500) return malformed('请求格式有误', 'The request is malformed', error)
  return new AppError(5000, { zh: '系统内部错误', en: 'Internal system error' }, { cause: error })
}

function send(
  context: HttpContext,
  response: ServerResponse,
  requestId: string,
  result: ApiResponse,
  call: Call | undefined,
): void {
  const text = JSON.stringify(result.body)
  // Names and values alternate: the cheapest form for node:http.
  const headers = [
    'X-Request-Id',
    requestId,
    'Content-Type',
    'application/json; charset=utf-8',
    'Cache-Control',
    'no-store',
    'Content-Length',
    String(Buffer.byteLength(text)),
  ]
  if (call) headers.push(...call.responseHeaders)
  if (result.headers)
    for (const name of Object.keys(result.headers)) headers.push(name, result.headers[name]!)
  if (result.headers?.['connection'] === undefined) {
    if (context.isStopping()) headers.push('Connection', 'close')
    else if (response.shouldKeepAlive) headers.push('Keep-Alive', keepAliveHint)
  }
  response.writeHead(result.status, headers)
  response.end(text)
}
