// What the documents say of an operation beyond its parameters: price, answer, errors, and examples that a test runs.
import type { ErrorCode } from './codes.ts'
import type { ApiType, prices } from './credits.ts'
import type { Endpoint } from './endpoint.ts'
import type { Text } from './text.ts'

/** One field of an answer. `map` is an object of texts by name. Objects have the fields that are named and no others. */
export interface Field {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'list' | 'map'
  readonly text: Text
  /** The only values there are. */
  readonly values?: readonly (string | number | boolean)[]
  readonly pattern?: string
  readonly least?: number
  readonly most?: number
  /** The field may be absent. */
  readonly optional?: boolean
  readonly fields?: Fields
  readonly items?: Field
}

export type Fields = Readonly<Record<string, Field>>

export interface Price {
  readonly name: keyof typeof prices
  readonly apiType: ApiType
  /** What one price is paid for. */
  readonly per: Text
}

export interface ErrorCase {
  readonly code: ErrorCode
  readonly status: number
  readonly when: Text
}

/** Who makes the call of an example: the sample account unless said otherwise. */
export type ExampleCaller = 'sample' | 'without credits' | 'wrong key' | 'sms off'

/** A call and its answer, as the sample account sees them right after the first start, in the order they stand in. */
export interface Example {
  readonly title: Text
  /** Parameters without user name, key and action. */
  readonly values: Readonly<Record<string, unknown>>
  readonly caller?: ExampleCaller
  readonly status: number
  readonly answer: unknown
  /** Paths in the answer that are different every time: times, random codes, addresses of this installation. */
  readonly varies?: readonly string[]
}

export interface OperationReference {
  /** Absent where the operation is free. */
  readonly price?: Price
  readonly notes: readonly Text[]
  /** The whole body of a success. */
  readonly answer: Field
  readonly errors: readonly ErrorCase[]
  readonly examples: readonly Example[]
}

/** Every operation of the endpoint has its entry, or the types do not fit. */
export type EndpointReference<E extends Endpoint> = {
  readonly [K in keyof E['operations']]: OperationReference
}

/** Envelope A around its data. */
export function inEnvelope(data: Field): Field {
  return {
    type: 'object',
    text: { zh: '成功', en: 'Success' },
    fields: {
      code: { type: 'integer', values: [0], text: { zh: '0 表示成功', en: '0 means success' } },
      message: { type: 'string', values: ['success'], text: { zh: '固定为 success', en: 'always success' } },
      data,
    },
  }
}

/** The short link endpoint's success around its data. */
export function inSuccess(fields: Fields, more: Fields = {}): Field {
  return {
    type: 'object',
    text: { zh: '成功', en: 'Success' },
    fields: {
      success: { type: 'boolean', values: [true], text: { zh: '固定为 true', en: 'always true' } },
      ...more,
      data: { type: 'object', text: { zh: '结果', en: 'The result' }, fields },
    },
  }
}
