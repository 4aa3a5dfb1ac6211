// Runs calls for the test of all clients: one JSON object per line in, one out.
import { createInterface } from 'node:readline'
import {
  type Page,
  Tollgate,
  TollgateApiError,
  TollgateConnectionError,
  type TollgateError,
  TollgateTimeoutError,
  verifyWebhook,
  type WebhookHeaders,
} from '../src/index.ts'

interface DriverRequest {
  readonly client: {
    readonly base_url: string
    readonly username: string
    readonly api_key: string
    readonly timeout?: number
    readonly retries?: number
    readonly max_wait?: number
    readonly language?: 'zh' | 'en'
  }
  readonly call: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly options?: { readonly idempotency_key?: string }
}

type Operation = (...values: readonly unknown[]) => Promise<unknown>

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

async function run({ client, call, params = {}, options = {} }: DriverRequest): Promise<unknown> {
  if (call === 'webhooks.verify') {
    const { secret, headers, body } = params
    return verifyWebhook(secret as string, headers as WebhookHeaders, body as string) ?? null
  }
  const tollgate = new Tollgate({
    baseUrl: client.base_url,
    username: client.username,
    apiKey: client.api_key,
    ...(client.timeout !== undefined && { timeoutMs: client.timeout * 1000 }),
    ...(client.retries !== undefined && { retries: client.retries }),
    ...(client.max_wait !== undefined && { longestWaitMs: client.max_wait * 1000 }),
    ...(client.language !== undefined && { language: client.language }),
  })
  const [group, name] = call.split('.') as ['shortlink' | 'sms' | 'identity' | 'domains', string]
  // `logs` of this client returns the list itself; `logsPage` has the form of the other clients.
  const method = call === 'sms.logs' ? 'logsPage' : camel(name)
  const operation = (tollgate[group] as Readonly<Record<string, Operation>>)[method]
  if (!operation) throw new TypeError(`no operation ${call}`)
  const given = options.idempotency_key === undefined ? {} : { idempotencyKey: options.idempotency_key }
  const takesParameters = name !== 'templates' && name !== 'signatures'
  const result = await (takesParameters ? operation(params, given) : operation(given))
  // The pages of the other clients have the names of the API.
  return isPage(result) ? { data: result.items, next_cursor: result.next_cursor } : result
}

function isPage(value: unknown): value is Page<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'items' in value &&
    'next_cursor' in value &&
    !('batch_id' in value)
  )
}

function describe(error: unknown): Record<string, unknown> {
  const kind =
    error instanceof TollgateApiError
      ? 'api'
      : error instanceof TollgateTimeoutError
        ? 'timeout'
        : error instanceof TollgateConnectionError
          ? 'connection'
          : 'other'
  const { status, code, retryAfter } = error as Partial<TollgateApiError>
  const { requestId, idempotencyKey } = error as Partial<TollgateError>
  return {
    kind,
    message: error instanceof Error ? error.message : '',
    status: status ?? null,
    code: code ?? null,
    retry_after: retryAfter ?? null,
    request_id: requestId ?? null,
    idempotency_key: idempotencyKey ?? null,
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await run(JSON.parse(line) as DriverRequest).then(
    (result) => ({ result }),
    (error: unknown) => ({ error: describe(error) }),
  )
  console.log(JSON.stringify(answer))
}
