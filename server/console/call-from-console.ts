// An action by hand: a product's own call, made by a session instead of a key, and recorded like every API call.
import type { Endpoint } from '../../contract/endpoint.ts'
import type { Caller } from '../accounts/authenticate.ts'
import { isExpired } from '../accounts/accounts.ts'
import type { Account } from '../accounts/store.ts'
import { type Call, readIdempotencyKey } from '../http/call.ts'
import { toAppError } from '../http/endpoint.ts'
import { type ApiResponse, errorResponse } from '../http/responses.ts'
import type { Services } from '../services.ts'
import type { SignedInAsk } from './routes.ts'
import { codeOf, ConsoleProblem } from './problem.ts'

export interface HandAction {
  readonly endpoint: Endpoint
  /** The operation as the endpoint's description names it. */
  readonly action: string
  /** What an API call would have sent, and what the inspector shows, masked. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Performs the action and tells of it; what failed is thrown as the console says it. */
export async function byHand(
  services: Services,
  ask: SignedInAsk,
  action: HandAction,
  perform: (call: Call, caller: Caller) => Promise<ApiResponse>,
): Promise<{ readonly call: Call; readonly answer: ApiResponse }> {
  requireNotExpired(ask.account)
  const call = openHandCall(ask, action)
  const answer = await recorded(services, call, () =>
    perform(call, { account: ask.account, keyHash: undefined }),
  )
  return { call, answer: requireSuccess(answer) }
}

export function openHandCall(ask: SignedInAsk, { endpoint, action, parameters }: HandAction): Call {
  return {
    endpoint,
    requestId: ask.requestId,
    language: ask.language,
    address: ask.address,
    // The length is what the log of calls reckons memory by.
    sources: { headers: { 'content-length': ask.request.headers['content-length'] }, json: parameters },
    idempotencyKey: readIdempotencyKey(ask.request.headers['idempotency-key']),
    responseHeaders: [],
    trace: {
      startedAt: ask.request.startedAt,
      steps: {},
      accountId: ask.account.id,
      username: ask.account.username,
      action,
      parameterSources: Object.fromEntries(Object.keys(parameters).map((name) => [name, 'json'])),
      charged: 0,
      refunded: 0,
      gateway: undefined,
      replayed: false,
    },
  }
}

/** Does the work and tells log, metrics and inspector how it ended, as if it had come with a key. */
export async function recorded(
  services: Pick<Services, 'http'>,
  call: Call,
  work: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  try {
    const answer = await work()
    tell(services, call, answer)
    return answer
  } catch (error) {
    tellOfFailure(services, call, error)
    throw error
  }
}

export function tellOfFailure(services: Pick<Services, 'http'>, call: Call, error: unknown): void {
  tell(services, call, errorResponse(call.endpoint.shape, toAppError(error), call.language, services.http))
}

function tell({ http }: Pick<Services, 'http'>, call: Call, answer: ApiResponse): void {
  http.onResponse({
    endpoint: call.endpoint,
    requestId: call.requestId,
    method: 'POST',
    response: answer,
    durationMs: performance.now() - call.trace.startedAt,
    call,
  })
}

/** Reading goes on after the last day, consuming and changing does not. */
export function requireNotExpired(account: Account): void {
  if (isExpired(account)) {
    throw new ConsoleProblem('expired', {
      zh: '账户已过期，只能查看',
      en: 'The account has expired: it can be looked at, but not used',
    })
  }
}

function requireSuccess(answer: ApiResponse): ApiResponse {
  const { code, message } = answer.body as { code?: unknown; message?: unknown }
  if (answer.status < 400 && (typeof code !== 'number' || code === 0)) return answer
  const text = typeof message === 'string' ? message : ''
  throw new ConsoleProblem(codeOf({ code: typeof code === 'number' ? code : 1002, status: answer.status }), {
    zh: text,
    en: text,
  })
}
