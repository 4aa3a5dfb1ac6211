// Answers the endpoints of the contract on bare node:http: method, body, the product's handler, the answer in the endpoint's shape.
//
// A router and its hooks cost as much again as reading and answering a call does, and there is nothing to route here: four
// paths, known by heart. Everything else of the service stands behind Fastify.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Endpoint } from '../../contract/endpoint.ts'
import type { AddressOf } from './address.ts'
import { decodeBody } from './body.ts'
import { type Call, languageOf, createRequestId, createCall } from './call.ts'
import { AppError, malformed } from './errors.ts'
import { parseForm } from './form.ts'
import type { ParameterSources } from './parameters.ts'
import { type ApiResponse, errorResponse, type ErrorResponseOptions } from './responses.ts'

/** No body is larger, whatever it holds. */
export const bodyLimit = 1_048_576

/** What is larger than the limit is read on to here and thrown away: many callers write everything before they read an answer. */
const discardLimit = 16 * bodyLimit

export interface HttpContext extends ErrorResponseOptions {
  readonly addressOf: AddressOf
  /** True from SIGTERM on: running calls finish, new ones are sent away. */
  readonly isStopping: () => boolean
  /** Told of every answer, with the call when it came that far. It must not throw and must not wait. */
  readonly onResponse: (answered: CompletedCall) => void
  /** Told of what went wrong on our side. */
  readonly onError: (error: unknown, requestId: string) => void
}

export interface CompletedCall {
  readonly endpoint: Endpoint
  readonly requestId: string
  readonly method: string
  readonly answer: ApiResponse
  readonly durationMs: number
  readonly call: Call | undefined
}

export type Handler = (call: Call) => Promise<ApiResponse>

/** An endpoint of the contract and who answers it. */
export interface ServedEndpoint {
  readonly endpoint: Endpoint
  readonly handle: Handler
}

/** Takes a request whose path is an endpoint's, and only that; false leaves it to others. */
export type TryHandle = (request: IncomingMessage, response: ServerResponse) => boolean

export function serveEndpoints(context: HttpContext, served: readonly ServedEndpoint[]): TryHandle {
  const byPath = new Map(served.map((one) => [one.endpoint.path, one]))
  return (request, response) => {
    const url = request.url ?? ''
    const mark = url.indexOf('?')
    const one = byPath.get(mark === -1 ? url : url.slice(0, mark))
    if (!one) return false
    void answerCall(context, one, request, response, mark === -1 ? undefined : url.slice(mark + 1))
    return true
  }
}

async function answerCall(
  context: HttpContext,
  { endpoint, handle }: ServedEndpoint,
  request: IncomingMessage,
  response: ServerResponse,
  query: string | undefined,
): Promise<void> {
  const startedAt = performance.now()
  const requestId = createRequestId()
  let call: Call | undefined
  let answer: ApiResponse
  try {
    if (!(endpoint.methods as readonly string[]).includes(request.method ?? '')) {
      throw methodNotAllowed(endpoint)
    }
    if (context.isStopping()) throw stopping()
    const body = request.method === 'GET' ? undefined : await readBody(request)
    const read = readSources(endpoint, request, query, body)
    // Waiting costs a turn even where there is nothing to wait for.
    const sources = read instanceof Promise ? await read : read
    call = createCall(endpoint, requestId, request, context.addressOf(request), sources, startedAt)
    answer = await handle(call)
  } catch (error) {
    if (error instanceof CallerGone) {
      // Nobody hears it; but a stop waits for whoever was not answered.
      response.end()
      return
    }
    answer = answerOfError(context, endpoint, request, requestId, error)
  }
  const durationMs = performance.now() - startedAt
  context.onResponse({ endpoint, requestId, method: request.method ?? '', answer, durationMs, call })
  send(context, response, requestId, answer, call)
}

/** Hung up before the request was whole: nothing was done and nobody is there to be told. */
class CallerGone extends Error {}

const nothing = Buffer.alloc(0)

function readBody(request: IncomingMessage): Buffer | Promise<Buffer> {
  // No body was announced: this stream has ended before anyone could listen, and will not say so again.
  if (request.readableEnded) return nothing
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length']) > discardLimit) {
      reject(tooLarge())
      return
    }
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= bodyLimit) chunks.push(chunk)
      else if (size <= discardLimit) chunks.length = 0
      else {
        request.pause()
        reject(tooLarge())
      }
    })
    request.on('end', () => {
      if (size > bodyLimit) reject(tooLarge())
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
    request.on('error', () => reject(new CallerGone()))
  })
}

function tooLarge(): AppError {
  return new AppError(
    1002,
    { zh: '请求体超过 1 MiB', en: 'The body is larger than 1 MiB' },
    // What is still on its way is not read any more.
    { status: 413, headers: { connection: 'close' } },
  )
}

function readSources(
  endpoint: Endpoint,
  { headers }: IncomingMessage,
  queryText: string | undefined,
  body: Buffer | undefined,
): ParameterSources | Promise<ParameterSources> {
  const query = queryText === undefined ? undefined : parseForm(queryText, 'utf-8')
  if (body === undefined) return { headers, query }
  const decoded = decodeBody({
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    body,
    readForms: endpoint.readsForms,
  })
  if (decoded instanceof Promise) return decoded.then(({ json, form }) => ({ headers, json, form, query }))
  return { headers, json: decoded.json, form: decoded.form, query }
}

function methodNotAllowed(endpoint: Endpoint): AppError {
  const allow = endpoint.methods.join(', ')
  const text = { zh: `只支持 ${allow} 请求`, en: `Only ${allow} is supported` }
  return new AppError(1002, text, { status: 405, headers: { allow } })
}

function stopping(): AppError {
  return new AppError(
    5000,
    { zh: '服务正在重启，请稍后重试', en: 'The service is restarting, please try again shortly' },
    { status: 503, retryAfter: 5, headers: { connection: 'close' } },
  )
}

function answerOfError(
  context: HttpContext,
  endpoint: Endpoint,
  request: IncomingMessage,
  requestId: string,
  error: unknown,
): ApiResponse {
  const known = toAppError(error)
  if (known.status >= 500 && known.code === 5000 && known.status !== 503) context.onError(error, requestId)
  return errorResponse(endpoint.shape, known, languageOf(request), context)
}

/** What Fastify itself refuses gets our words; everything unexpected is an internal error without details. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status === 413) return tooLarge()
  if (status >= 400 && status < 500) return malformed('请求格式有误', 'The request is malformed', error)
  return new AppError(5000, { zh: '系统内部错误', en: 'Internal system error' }, { cause: error })
}

function send(
  context: HttpContext,
  response: ServerResponse,
  requestId: string,
  answer: ApiResponse,
  call: Call | undefined,
): void {
  const text = JSON.stringify(answer.body)
  // Name and value in turn: node:http writes such a list out as it stands.
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
  if (answer.headers)
    for (const name of Object.keys(answer.headers)) headers.push(name, answer.headers[name]!)
  if (context.isStopping() && answer.headers?.['connection'] === undefined)
    headers.push('Connection', 'close')
  response.writeHead(answer.status, headers)
  response.end(text)
}
