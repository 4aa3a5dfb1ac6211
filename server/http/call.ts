// One API call: its parameters, and a trace of it for logs, metrics and the request log.
import type { IncomingMessage } from 'node:http'
import type { Endpoint, Operation } from '../../contract/endpoint.ts'
import { idempotencyKeySchema } from '../../contract/idempotency.ts'
import type { Parameters, ParameterSource, Values } from '../../contract/parameters.ts'
import type { Language } from '../../contract/text.ts'
import { AppError } from './errors.ts'
import { type ParameterSources, parameterError, readParameters, type ReadResult } from './parameters.ts'

/** Whether a call was authenticated by an API key or made in the console. */
export type CallSource = 'api' | 'console'

export interface Call {
  readonly endpoint: Endpoint
  readonly requestId: string
  readonly language: Language
  readonly address: string
  readonly source: CallSource
  readonly sources: ParameterSources
  readonly idempotencyKey: string | undefined
  /** Further headers of the response; names and values alternate. */
  readonly responseHeaders: string[]
  readonly trace: CallTrace
  knownAccount: KnownAccountUse
}

/**
 * Whether the call relies on what this process last saw of its account: it may, it does, it does and its charge has been sent, or
 * it must not, because it runs again or comes from the console.
 */
export type KnownAccountUse = 'allowed' | 'used' | 'sent' | 'refused'

/** Filled in while the call is handled, read when it is complete. */
export interface CallTrace {
  readonly startedAt: number
  /** When a step was done, in milliseconds after the start: `checked`, `charged`, `gateway`, `settled`. */
  readonly steps: Record<string, number>
  accountId: number | undefined
  username: string | undefined
  action: string | undefined
  readonly parameterSources: Record<string, ParameterSource>
  charged: number
  refunded: number
  gateway: string | undefined
  replayed: boolean
}

export function createCall(
  endpoint: Endpoint,
  requestId: string,
  request: IncomingMessage,
  address: string,
  sources: ParameterSources,
  startedAt: number,
  idempotencyHeader: string | string[] | undefined = request.headers['idempotency-key'],
): Call {
  return {
    endpoint,
    requestId,
    language: languageOf(request),
    address,
    source: 'api',
    sources,
    idempotencyKey: readIdempotencyKey(idempotencyHeader),
    responseHeaders: [],
    trace: {
      startedAt,
      steps: {},
      accountId: undefined,
      username: undefined,
      action: undefined,
      parameterSources: {},
      charged: 0,
      refunded: 0,
      gateway: undefined,
      replayed: false,
    },
    knownAccount: 'allowed',
  }
}

/** Of a call whose parameters are not in its headers: what the request log estimates its memory from. */
export function sizeHeaders({ headers }: IncomingMessage): ParameterSources['headers'] {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  return { 'content-length': length, 'transfer-encoding': encoding }
}

/** Reads parameters without throwing, for products that report more problems in the same message. */
export function readCallParameters<const P extends Parameters>(call: Call, description: P): ReadResult<P> {
  return readParameters(call.sources, description, call.trace.parameterSources)
}

/** Throws one error that names every missing and invalid parameter. */
export function requireParameters<const P extends Parameters>(call: Call, description: P): Values<P> {
  const { values, missing, invalid } = readCallParameters(call, description)
  if (missing.length > 0 || invalid.length > 0) throw parameterError(missing, invalid)
  return values
}

export function markStep(call: Call, step: string): void {
  call.trace.steps[step] = performance.now() - call.trace.startedAt
}

/** Chinese, unless the first language of Accept-Language is English. */
export function languageOf(request: IncomingMessage): Language {
  const accepted = request.headers['accept-language']
  return accepted !== undefined && /^\s*en\b/i.test(accepted) ? 'en' : 'zh'
}

const { maxLength: maxKeyLength } = idempotencyKeySchema
const keyPattern = new RegExp(idempotencyKeySchema.pattern)

export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const key = Array.isArray(header) ? header.join(',') : header.trim()
  if (key === '') return undefined
  if (key.length > maxKeyLength || !keyPattern.test(key)) {
    throw new AppError(1002, {
      zh: `Idempotency-Key 必须是最多 ${maxKeyLength} 个可见 ASCII 字符`,
      en: `Idempotency-Key has at most ${maxKeyLength} visible ASCII characters`,
    })
  }
  return key
}

/** Returns the contract's name of the operation. */
export function findOperation<const O extends Readonly<Record<string, Operation>>>(
  call: Call,
  operations: O,
  action: string,
): keyof O & string {
  const name = operationNamesOf(operations).get(action)
  if (name === undefined) throw new AppError(1002, { zh: '无效的操作类型', en: 'Invalid action type' })
  call.trace.action = name
  return name
}

/** The operation that an action selects, or the only one of the endpoint. Undefined for an unknown action. */
export function operationOf({ operations }: Endpoint, action: string | undefined): Operation | undefined {
  if (action === undefined) return Object.values(operations)[0]
  const name = operationNamesOf(operations).get(action)
  return name === undefined ? undefined : operations[name]
}

/** Names by action. Cached, because operations are constants. */
const operationNames = new WeakMap<object, ReadonlyMap<string, string>>()

function operationNamesOf(operations: Endpoint['operations']): ReadonlyMap<string, string> {
  let names = operationNames.get(operations)
  if (!names) {
    names = new Map(
      Object.entries(operations).flatMap(([name, { actions }]) => actions.map((one) => [one, name])),
    )
    operationNames.set(operations, names)
  }
  return names
}
