// What the documents say about an operation besides its parameters: price, response, errors, and examples that a test calls.
//
// Responses are TypeBox schemas, with descriptions in both languages under `text`.
import { type TProperties, type TSchema, Type } from 'typebox'
import type { ErrorCode } from './codes.ts'
import type { ApiType, prices } from './credits.ts'
import type { Endpoint } from './endpoint.ts'
import type { Text } from './text.ts'
import { timePattern } from './time.ts'

export interface Price {
  readonly name: keyof typeof prices
  readonly apiType: ApiType
  /** The unit that is charged. */
  readonly per: Text
}

export interface ErrorCase {
  readonly code: ErrorCode
  readonly status: number
  readonly when: Text
}

/** Which account calls an example; the sample account by default. */
export type ExampleCaller = 'sample' | 'without credits' | 'wrong key' | 'sms off'

/** A call and its response for the sample account, called in this order right after the first start. */
export interface Example {
  readonly title: Text
  /** Parameters without user name, key and action. */
  readonly values: Readonly<Record<string, unknown>>
  readonly caller?: ExampleCaller
  /** The outcome of an input that only the sandbox knows. */
  readonly sandbox?: true
  readonly status: number
  readonly response: unknown
  /** Paths in the response that differ with every call: times, random codes, addresses of the installation. */
  readonly varies?: readonly string[]
}

export interface OperationReference {
  /** Absent for a free operation. */
  readonly price?: Price
  readonly notes: readonly Text[]
  /** Schema of the whole body of a success. */
  readonly response: TSchema
  readonly errors: readonly ErrorCase[]
  readonly examples: readonly Example[]
}

/** One entry for each operation of the endpoint. */
export type EndpointReference<E extends Endpoint> = {
  readonly [K in keyof E['operations']]: OperationReference
}

export const text = (zh: string, en: string) => ({ text: { zh, en } })

/** An object with exactly these properties. */
export function object<P extends TProperties>(properties: P, zh = '结果', en = 'Result') {
  return Type.Object(properties, { ...text(zh, en), additionalProperties: false })
}

export function oneOf<const V extends string[]>(values: readonly [...V], zh: string, en: string) {
  return Type.Enum([...values], { type: 'string', ...text(zh, en) })
}

export function count(zh: string, en: string) {
  return Type.Integer({ minimum: 0, ...text(zh, en) })
}

/** `YYYY-MM-DD HH:MM:SS` in Asia/Shanghai. */
export function time(zh: string, en: string) {
  return Type.String({ pattern: timePattern, ...text(zh, en) })
}

export const nextCursor = Type.Union([Type.String(), Type.Null()], {
  ...text('下一页的 cursor，没有下一页时为 null', 'cursor of the next page; null on the last page'),
})

/** A page of a list in an envelope. */
export function pageOf(data: TSchema) {
  return envelopeOf(data, { next_cursor: nextCursor })
}

export function envelopeOf(data: TSchema, more: TProperties = {}) {
  return object(
    {
      code: Type.Integer({ enum: [0], ...text('0 表示成功', '0 means success') }),
      message: oneOf(['success'], '固定为 success', 'Always success'),
      data,
      ...more,
    },
    '成功',
    'Success',
  )
}

export function shortlinkResponseOf(data: TSchema, more: TProperties = {}) {
  return object(
    { success: Type.Boolean({ enum: [true], ...text('固定为 true', 'Always true') }), ...more, data },
    '成功',
    'Success',
  )
}
