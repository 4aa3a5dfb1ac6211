// One API call: where its parameters stand, who made it, and what is noted of it for logs, metrics and the inspector.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '../../contract/endpoint.ts'
import type { Parameters, Values } from '../../contract/parameters.ts'
import type { Language } from '../../contract/text.ts'
import { AppError } from './errors.ts'
import {
  type ParameterSources,
  parameterError,
  readParameters,
  type ReadResult,
  type ParameterSource,
} from './parameters.ts'

export interface Call {
  readonly endpoint: Endpoint
  readonly requestId: string
  readonly language: Language
  readonly address: string
  readonly sources: ParameterSources
  readonly idempotencyKey: string | undefined
  /** What the answer carries besides its own headers: name and value in turn. */
  readonly responseHeaders: string[]
  readonly trace: CallTrace
}

/** What became of a call. Filled in on the way, read once at the end. */
export interface CallTrace {
  readonly startedAt: number
  /** Milliseconds after the start at which a step was done: `checked`, `charged`, `gateway`, `settled`. */
  readonly steps: Record<string, number>
  accountId: number | undefined
  username: string | undefined
  action: string | undefined
  /** Where each parameter came from. */
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
): Call {
  return {
    endpoint,
    requestId,
    language: languageOf(request),
    address,
    sources,
    idempotencyKey: readIdempotencyKey(request.headers['idempotency-key']),
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
  }
}

/** For whoever has more to say about the values than that they are missing or wrong. */
export function readCallParameters<const P extends Parameters>(call: Call, description: P): ReadResult<P> {
  return readParameters(call.sources, description, call.trace.parameterSources)
}

/** The values a description asks for, or one error that names everything missing or wrong. */
export function requireParameters<const P extends Parameters>(call: Call, description: P): Values<P> {
  const { values, missing, invalid } = readCallParameters(call, description)
  if (missing.length > 0 || invalid.length > 0) throw parameterError(missing, invalid)
  return values
}

export function markStep(call: Call, step: string): void {
  call.trace.steps[step] = performance.now() - call.trace.startedAt
}

/** Chinese, unless the first language the request asks for is English. */
export function languageOf(request: IncomingMessage): Language {
  const wanted = request.headers['accept-language']
  return wanted !== undefined && /^\s*en\b/i.test(wanted) ? 'en' : 'zh'
}

export function createRequestId(): string {
  return randomUUID()
}

export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const key = Array.isArray(header) ? header.join(',') : header.trim()
  if (key === '') return undefined
  if (key.length > 255 || !/^[\x21-\x7e]+$/.test(key)) {
    throw new AppError(1002, {
      zh: 'Idempotency-Key 须为不超过 255 个可见 ASCII 字符',
      en: 'Idempotency-Key has at most 255 visible ASCII characters',
    })
  }
  return key
}
