// The messages of MCP (JSON-RPC 2.0) that a server with tools answers. It keeps no state between requests.
import project from '../../package.json' with { type: 'json' }
import { type Tool, tools } from './tools.ts'

/** The newest first. */
const versions = ['2025-11-25', '2025-06-18', '2025-03-26'] as const

export const isSupportedVersion = (version: unknown): boolean =>
  (versions as readonly unknown[]).includes(version)

export interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent: Readonly<Record<string, unknown>>
  readonly isError: boolean
}

export type CallTool = (tool: Tool, values: Readonly<Record<string, unknown>>) => Promise<ToolResult>

type MessageFields = Readonly<Record<string, unknown>>

const errorCodes = { invalidRequest: -32_600, methodNotFound: -32_601, invalidParams: -32_602 } as const

class ProtocolError extends Error {
  readonly code: number

  constructor(kind: keyof typeof errorCodes, message: string) {
    super(message)
    this.code = errorCodes[kind]
  }
}

/** Returns the response, or undefined for a notification. */
export async function answerMessage(
  message: unknown,
  callTool: CallTool,
): Promise<MessageFields | undefined> {
  const id = isFields(message) && isId(message['id']) ? message['id'] : null
  try {
    if (!isFields(message) || message['jsonrpc'] !== '2.0' || typeof message['method'] !== 'string')
      throw new ProtocolError('invalidRequest', 'The body is not a JSON-RPC 2.0 request')
    if (!('id' in message)) return undefined
    if (id === null) throw new ProtocolError('invalidRequest', 'id is a string or an integer')
    const params = isFields(message['params']) ? message['params'] : {}
    return { jsonrpc: '2.0', id, result: await answerMethod(message['method'], params, callTool) }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
  }
}

async function answerMethod(method: string, params: MessageFields, callTool: CallTool): Promise<unknown> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: isSupportedVersion(params['protocolVersion'])
          ? params['protocolVersion']
          : versions[0],
        capabilities: { tools: { listChanged: false } },
        serverInfo: { name: 'tollgate', title: 'Tollgate', version: project.version },
        instructions:
          'Short links, template SMS, identity verification and domain block checks on one prepaid balance. Tools that cost credits need an idempotency_key. Ask the user before you call one.',
      }
    case 'ping':
      return {}
    case 'tools/list':
      return { tools: [...tools.values()].map(({ description }) => description) }
    case 'tools/call': {
      const tool = tools.get(String(params['name']))
      if (!tool) throw new ProtocolError('invalidParams', 'Unknown tool')
      const values = params['arguments'] ?? {}
      if (!isFields(values)) throw new ProtocolError('invalidParams', 'arguments is an object')
      return callTool(tool, values)
    }
    default:
      throw new ProtocolError('methodNotFound', 'Method not found')
  }
}

function isFields(value: unknown): value is MessageFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' ? value.length <= 255 : Number.isSafeInteger(value)
}
