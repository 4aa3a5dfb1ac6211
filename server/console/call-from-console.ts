// Calls a product from the console: authenticated by a session instead of an API key, recorded like every API call.
import type { Endpoint } from '../../contract/endpoint.ts'
import type { Caller } from '../accounts/authenticate.ts'
import { isExpired } from '../accounts/accounts.ts'
import type { Account } from '../accounts/store.ts'
import { type Call, readIdempotencyKey, sizeHeaders } from '../http/call.ts'
import { reportResponse, toAppError } from '../http/endpoint.ts'
import { type ApiResponse, errorResponse } from '../http/responses.ts'
import type { Services } from '../services.ts'
import type { SignedInRequest } from './access.ts'
import { codeOf, ConsoleProblem } from './problem.ts'

export interface ConsoleCall {
  readonly endpoint: Endpoint
  /** The operation as the endpoint's description names it. */
  readonly action: string
  /** The parameters of the same API call; the request log shows them masked. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Performs and records the call. A failure is thrown as a `ConsoleProblem`. */
export async function callFromConsole(
  services: Services,
  request: SignedInRequest,
  action: ConsoleCall,
  perform: (call: Call, caller: Caller) => Promise<ApiResponse>,
): Promise<{ readonly call: Call; readonly response: ApiResponse }> {
  requireNotExpired(request.account)
  const call = createConsoleCall(request, action)
  const response = await recorded(services, call, () =>
    perform(call, { account: request.account, keyHash: undefined }),
  )
  return { call, response: requireSuccess(response) }
}

export function createConsoleCall(
  request: SignedInRequest,
  { endpoint, action, parameters }: ConsoleCall,
): Call {
  return {
    endpoint,
    requestId: request.requestId,
    language: request.language,
    address: request.address,
    source: 'console',
    sources: { headers: sizeHeaders(request.raw.raw), json: parameters },
    idempotencyKey: readIdempotencyKey(request.raw.headers['idempotency-key']),
    responseHeaders: [],
    trace: {
      startedAt: request.raw.startedAt,
      steps: {},
      accountId: request.account.id,
      username: request.account.username,
      action,
      parameterSources: Object.fromEntries(Object.keys(parameters).map((name) => [name, 'json'])),
      charged: 0,
      refunded: 0,
      gateway: undefined,
      replayed: false,
    },
    // The session has just been looked up.
    knownAccount: 'refused',
  }
}

/** Reports the outcome to the log, the metrics and the request log, like an API call. */
export async function recorded(
  services: Pick<Services, 'http'>,
  call: Call,
  work: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  try {
    const response = await work()
    reportResponse(services.http, call, response)
    return response
  } catch (error) {
    recordFailure(services, call, error)
    throw error
  }
}

export function recordFailure(services: Pick<Services, 'http'>, call: Call, error: unknown): void {
  const response = errorResponse(call.endpoint.shape, toAppError(error), call.language, services.http)
  reportResponse(services.http, call, response)
}

/** An expired account can read, but neither consume nor change. */
export function requireNotExpired(account: Account): void {
  if (isExpired(account)) {
    throw new ConsoleProblem('expired', {
      zh: '账户已过期，只能查看',
      en: 'The account has expired: you can view it, but not use it',
    })
  }
}

function requireSuccess(response: ApiResponse): ApiResponse {
  const { code, message } = response.body as { code?: unknown; message?: unknown }
  if (response.status < 400 && (typeof code !== 'number' || code === 0)) return response
  const text = typeof message === 'string' ? message : ''
  throw new ConsoleProblem(
    codeOf({ code: typeof code === 'number' ? code : 1002, status: response.status }),
    {
      zh: text,
      en: text,
    },
  )
}
