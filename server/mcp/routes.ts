// Serves MCP over streamable HTTP on /mcp: stateless, JSON responses, the API key in the Authorization header.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { idempotencyKeySchema } from '../../contract/idempotency.ts'
import { formOfKey, hashKey } from '../accounts/key.ts'
import type { FindByKey } from '../accounts/store.ts'
import { networkOf } from '../http/address.ts'
import { type Call, createCall, readIdempotencyKey, sizeHeaders } from '../http/call.ts'
import { type Handler, reportResponse, type ServedEndpoint, stopping, toAppError } from '../http/endpoint.ts'
import { AppError } from '../http/errors.ts'
import { bytesOf, decodeInTurn } from '../http/fastify-bodies.ts'
import { decodeBytes } from '../http/form.ts'
import { parseSafeJson } from '../http/json.ts'
import { type ApiResponse, errorResponse } from '../http/responses.ts'
import type { Services } from '../services.ts'
import { answerMessage, isSupportedVersion, type ToolResult } from './protocol.ts'
import { idempotencyParameter, type Tool } from './tools.ts'

export interface McpOptions {
  readonly services: Services
  readonly served: readonly ServedEndpoint[]
  readonly findByKey: FindByKey
  /** Keys the checksums of API keys. */
  readonly keySecret: string
}

export function registerMcp(api: FastifyInstance, options: McpOptions): void {
  const { services } = options
  const handlers = new Map(options.served.map(({ endpoint, handle }) => [endpoint, handle]))

  api.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    // There are no sessions and no messages of the server's own.
    handler: (_request, reply) => reply.code(405).header('allow', 'POST').send(),
  })
  api.post('/mcp', async (request, reply) => {
    reply.header('cache-control', 'no-store').type('application/json; charset=utf-8')
    const key = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (key === undefined) {
      return refuse(reply.header('www-authenticate', 'Bearer'), 401, 'Send the API key as a bearer token')
    }
    // Browsers send this header: a page of another site must not call us from its visitor's network.
    const { origin } = request.headers
    if (origin !== undefined && origin !== new URL(services.publicUrl()).origin) {
      return refuse(reply, 403, 'This origin is not allowed')
    }
    const version = request.headers['mcp-protocol-version']
    if (version !== undefined && !isSupportedVersion(version)) {
      return refuse(reply, 400, 'This protocol version is not supported')
    }
    const message = await decodeInTurn(services.http, request, bytesOf(request), readMessage)
    if (message === undefined) return refuse(reply, 400, 'The body is not JSON', -32_700)
    const response = await answerMessage(message, (tool, values) => callTool(request, tool, values, key))
    return response === undefined ? reply.code(202).send() : reply.send(JSON.stringify(response))
  })

  async function callTool(
    request: FastifyRequest,
    tool: Tool,
    values: Readonly<Record<string, unknown>>,
    key: string,
  ): Promise<ToolResult> {
    const call = await openCall(request, tool, values, key)
    const response = await perform(call, tool, handlers.get(tool.endpoint)!)
    reportResponse(services.http, call, response)
    const body = response.body as Readonly<Record<string, unknown>>
    const { code } = body
    return {
      content: [{ type: 'text', text: JSON.stringify(body) }],
      structuredContent: body,
      isError: response.status >= 400 || (typeof code === 'number' && code !== 0),
    }
  }

  async function perform(call: Call, tool: Tool, handle: Handler): Promise<ApiResponse> {
    try {
      if (services.http.isStopping()) throw stopping()
      if (tool.paid && call.idempotencyKey === undefined) throw missingIdempotencyKey()
      return await handle(call)
    } catch (error) {
      const known = toAppError(error)
      if (known.code === 5000 && known.status !== 503) services.http.onError(error, call.requestId)
      return errorResponse(tool.endpoint.shape, known, call.language, services.http)
    }
  }

  async function openCall(
    request: FastifyRequest,
    tool: Tool,
    values: Readonly<Record<string, unknown>>,
    key: string,
  ): Promise<Call> {
    const address = services.http.addressOf(request.raw)
    const { [idempotencyParameter]: given, ...parameters } = values
    const call = createCall(
      tool.endpoint,
      request.id,
      request.raw,
      address,
      {
        // Nothing else of the HTTP request is a parameter.
        headers: sizeHeaders(request.raw),
        json: {
          ...parameters,
          ...('username' in tool.endpoint.common && { username: await findUsername(key, address) }),
          ...(tool.action !== undefined && { action: tool.action }),
          api_key: key,
        },
      },
      request.startedAt,
      // The key is an argument.
      '',
    )
    const idempotencyKey = tool.paid && typeof given === 'string' ? readKeyOrUndefined(given) : undefined
    return { ...call, idempotencyKey }
  }

  /** The interface asks for the user name too. A wrong key gets one that does not exist, and the endpoint rejects it. */
  async function findUsername(key: string, address: string): Promise<string> {
    const form = formOfKey(key, options.keySecret)
    const isLookedUp =
      form === 'issued' || (form === 'possible' && !services.limits.isBlocked(networkOf(address)))
    const account = isLookedUp ? await options.findByKey(hashKey(key)) : undefined
    return account?.username ?? '-'
  }
}

function readMessage(body: Buffer): unknown {
  try {
    return parseSafeJson(decodeBytes(body, 'utf-8'))
  } catch {
    return undefined
  }
}

function readKeyOrUndefined(text: string): string | undefined {
  try {
    return readIdempotencyKey(text)
  } catch {
    return undefined
  }
}

function refuse(reply: FastifyReply, status: number, message: string, code = -32_600): FastifyReply {
  return reply.code(status).send(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }))
}

function missingIdempotencyKey(): AppError {
  return new AppError(1001, {
    zh: `缺少 ${idempotencyParameter}（1 至 ${idempotencyKeySchema.maxLength} 个可见 ASCII 字符）`,
    en: `${idempotencyParameter} is missing (1–${idempotencyKeySchema.maxLength} visible ASCII characters)`,
  })
}
