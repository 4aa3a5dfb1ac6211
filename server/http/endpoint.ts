// Puts an endpoint of the contract on the server: method, body, the product's handler, and the answer in the endpoint's shape.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '../../contract/endpoint.ts'
import type { AddressOf } from './address.ts'
import { decodeBody } from './body.ts'
import { type Call, languageOf, openCall } from './call.ts'
import { AppError, malformed } from './errors.ts'
import { parseForm } from './form.ts'
import type { ParameterSources } from './parameters.ts'
import { type Answer, errorAnswer, type ShapeOptions } from './shapes.ts'

export interface HttpContext extends ShapeOptions {
  readonly addressOf: AddressOf
  /** True from SIGTERM on: running calls finish, new ones are sent away. */
  readonly isStopping: () => boolean
  /** Told of every answer, with the call when it came that far. It must not throw and must not wait. */
  readonly onAnswer: (answered: Answered) => void
  /** Told of what went wrong on our side. */
  readonly onFailure: (error: unknown, requestId: string) => void
}

export interface Answered {
  readonly endpoint: Endpoint
  readonly requestId: string
  readonly method: string
  readonly answer: Answer
  readonly durationMs: number
  readonly call: Call | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint
  }
}

export type Handle = (call: Call) => Promise<Answer>

export function registerEndpoint(
  app: FastifyInstance,
  context: HttpContext,
  endpoint: Endpoint,
  handle: Handle,
): void {
  app.route({
    method: app.supportedMethods,
    url: endpoint.path,
    config: { endpoint },
    onRequest: (request, _reply, done) => {
      if (!(endpoint.methods as readonly string[]).includes(request.method)) done(methodNotAllowed(endpoint))
      else if (context.isStopping()) done(stopping())
      else done()
    },
    handler: async (request, reply) => {
      let call: Call | undefined
      let answer: Answer
      try {
        const sources = await readSources(request, endpoint)
        call = openCall(
          endpoint,
          request,
          reply.raw,
          context.addressOf(request.raw),
          sources,
          performance.now() - reply.elapsedTime,
        )
        answer = await handle(call)
      } catch (error) {
        answer = answerOfError(context, endpoint, request, error)
      }
      return sendAnswer(context, endpoint, request, reply, answer, call)
    },
  })
}

/** For what fails before the handler: wrong method, oversized body, a content length that lies. */
export function sendError(
  context: HttpContext,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  return sendAnswer(
    context,
    endpoint,
    request,
    reply,
    answerOfError(context, endpoint, request, error),
    undefined,
  )
}

export function methodNotAllowed(endpoint: Endpoint): AppError {
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

async function readSources(request: FastifyRequest, endpoint: Endpoint): Promise<ParameterSources> {
  const { headers, url } = request.raw
  const mark = url?.indexOf('?') ?? -1
  const query = mark === -1 || url === undefined ? undefined : parseForm(url.slice(mark + 1), 'utf-8')
  if (!Buffer.isBuffer(request.body)) return { headers, query }
  const decoded = decodeBody({
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    body: request.body,
    readForms: endpoint.readsForms,
  })
  const { json, form } = decoded instanceof Promise ? await decoded : decoded
  return { headers, json, form, query }
}

function answerOfError(
  context: HttpContext,
  endpoint: Endpoint,
  request: FastifyRequest,
  error: unknown,
): Answer {
  const known = toAppError(error)
  if (known.status >= 500 && known.code === 5000 && known.status !== 503) context.onFailure(error, request.id)
  return errorAnswer(endpoint.shape, known, languageOf(request.raw), context)
}

/** What Fastify itself refuses gets our words; everything unexpected is an internal error without details. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status === 413) {
    return new AppError(
      1002,
      { zh: '请求体超过 1 MiB', en: 'The body is larger than 1 MiB' },
      { status: 413, cause: error },
    )
  }
  if (status >= 400 && status < 500) return malformed('请求格式有误', 'The request is malformed', error)
  return new AppError(5000, { zh: '系统内部错误', en: 'Internal system error' }, { cause: error })
}

function sendAnswer(
  context: HttpContext,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  call: Call | undefined,
): FastifyReply {
  context.onAnswer({
    endpoint,
    requestId: request.id,
    method: request.method,
    answer,
    durationMs: reply.elapsedTime,
    call,
  })
  if (answer.headers) reply.headers(answer.headers)
  return reply
    .code(answer.status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(answer.body))
}
