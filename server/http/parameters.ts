// Reads parameters: looks up each one separately in headers, JSON, form and query, and converts it to its type.
// The API key may also be in `Authorization: Bearer`.
import { isStorableText, printable } from '../../contract/values.ts'
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { ParameterSource, ParameterType, Parameters, Values } from '../../contract/parameters.ts'
import type { Text } from '../../contract/text.ts'
import { AppError } from './errors.ts'
import { isForbiddenName } from './form.ts'
import { maxValues, parseJson } from './json.ts'

type ParameterFields = Readonly<Record<string, unknown>>

export interface ParameterSources {
  readonly headers: IncomingHttpHeaders
  readonly json?: ParameterFields | undefined
  readonly form?: ParameterFields | undefined
  readonly query?: ParameterFields | undefined
  readonly ignoredForm?: true | undefined
}

export interface InvalidParameter {
  readonly name: string
  /** Follows the name in a message: `必须是整数`, `must be an integer`. */
  readonly text: Text
  /** The text is the whole message: it does not follow the name. */
  readonly isWhole?: true
}

/** The texts of a message, in one language. */
export function problemTexts(invalid: readonly InvalidParameter[], language: 'zh' | 'en'): string[] {
  const texts = invalid.map(({ name, text, isWhole }) =>
    isWhole ? text[language] : `${name} ${text[language]}`,
  )
  // Two parameters may have the same problem as a whole.
  return [...new Set(texts)]
}

export interface ReadResult<P extends Parameters> {
  /** Complete only when nothing is missing or invalid. */
  readonly values: Values<P>
  /** Of every given parameter, valid or not. */
  readonly sources: Partial<Record<keyof P & string, ParameterSource>>
  readonly missing: readonly string[]
  readonly invalid: readonly InvalidParameter[]
}

interface DescriptionReader {
  readonly parameters: readonly ParameterReader[]
  /** Every header that may contain one of the parameters. */
  readonly headers: ReadonlySet<string>
}

interface ParameterReader {
  readonly name: string
  /** Some proxies drop headers with underscores; undefined when the name has none. */
  readonly hyphenName: string | undefined
  readonly read: (value: unknown) => unknown
  readonly required: boolean
}

/** Returned for an invalid value. `undefined` is returned for an empty one, which counts as not given. */
class InvalidValue {
  readonly text: Text

  constructor(zh: string, en: string) {
    this.text = { zh, en }
  }
}

const notText = new InvalidValue('必须是文本', 'must be text')
const brokenText = new InvalidValue('含有无效字符', 'contains characters that are not valid text')
const notUtf8 = new InvalidValue('不是有效的 UTF-8 文本', 'must be valid UTF-8 text')
const inexactNumber = new InvalidValue(
  '数字无法精确表示，请以文本传递',
  'is a number that cannot be kept exactly, send it as text',
)
const notInteger = new InvalidValue('必须是整数', 'must be an integer')
const notBoolean = new InvalidValue('必须是 true 或 false', 'must be true or false')
const notList = new InvalidValue('必须是文本列表', 'must be a list of texts')
const notItems = new InvalidValue('必须是列表', 'must be a list')
const notMap = new InvalidValue(
  '必须是由变量名和值组成的对象',
  'must be an object of variable names and values',
)

const readByType: Readonly<Record<ParameterType, (value: unknown) => unknown>> = {
  string: readString,
  integer: readInteger,
  boolean: readBoolean,
  list: readList,
  map: readMap,
  items: readItems,
}

/** Cached, because descriptions are constants. */
const readersOf = new WeakMap<Parameters, DescriptionReader>()

/** Adds the source of each given parameter to `found`. */
export function readParameters<const P extends Parameters>(
  sources: ParameterSources,
  description: P,
  found: Record<string, ParameterSource> = {},
): ReadResult<P> {
  const values: Record<string, unknown> = {}
  const missing: string[] = []
  const invalid: InvalidParameter[] = []

  const { parameters, headers } = readerOf(description)
  const isInHeaders = Object.keys(sources.headers).some((name) => headers.has(name))
  for (const reader of parameters) {
    let source: ParameterSource = 'header'
    let value = isInHeaders ? fromHeaders(sources.headers, reader) : undefined
    if (value === undefined) {
      source = 'json'
      value = fromFields(sources.json, reader)
    }
    if (value === undefined) {
      source = 'form'
      value = fromFields(sources.form, reader)
    }
    if (value === undefined) {
      source = 'query'
      value = fromFields(sources.query, reader)
    }
    if (value === undefined && reader.name === 'api_key') {
      source = 'bearer'
      value = readBearer(sources.headers.authorization)
    }

    if (value === undefined) {
      if (reader.required) missing.push(reader.name)
    } else {
      found[reader.name] = source
      if (value instanceof InvalidValue) invalid.push({ name: reader.name, text: value.text })
      else values[reader.name] = value
    }
  }
  return { values: values as Values<P>, sources: found as ReadResult<P>['sources'], missing, invalid }
}

/** One error that names everything, invalid parameters first. A missing key is a 401. */
export function parameterError(missing: readonly string[], invalid: readonly InvalidParameter[]): AppError {
  const zh = problemTexts(invalid, 'zh')
  const en = problemTexts(invalid, 'en')
  for (const name of missing) {
    zh.push(`${name} 缺失`)
    en.push(`${name} is missing`)
  }
  return new AppError(
    missing.length > 0 ? 1001 : 1002,
    { zh: zh.join('；'), en: en.join('; ') },
    { status: missing.includes('api_key') ? 401 : 400, fields: fieldsOf(missing, invalid) },
  )
}

function fieldsOf(
  missing: readonly string[],
  invalid: readonly InvalidParameter[],
): Readonly<Record<string, Text>> {
  const fields: Record<string, Text> = {}
  for (const name of missing) fields[name] = { zh: '必填', en: 'Required' }
  for (const { name, text } of invalid) {
    const before = fields[name]
    fields[name] = before ? { zh: `${before.zh}；${text.zh}`, en: `${before.en}; ${text.en}` } : text
  }
  return fields
}

function readerOf(description: Parameters): DescriptionReader {
  let known = readersOf.get(description)
  if (known === undefined) {
    const parameters = Object.entries(description).map(([name, { type, required }]) => ({
      name,
      hyphenName: name.includes('_') ? name.replaceAll('_', '-') : undefined,
      read: readByType[type],
      required,
    }))
    const headers = new Set(parameters.flatMap(({ name, hyphenName }) => [name, hyphenName ?? name]))
    known = { parameters, headers }
    readersOf.set(description, known)
  }
  return known
}

function fromFields(fields: ParameterFields | undefined, { name, read }: ParameterReader): unknown {
  return fields !== undefined && Object.hasOwn(fields, name) ? read(fields[name]) : undefined
}

function fromHeaders(headers: IncomingHttpHeaders, { name, hyphenName, read }: ParameterReader): unknown {
  const value = fromHeader(headers, name, read)
  if (value !== undefined || hyphenName === undefined) return value
  return fromHeader(headers, hyphenName, read)
}

function fromHeader(headers: IncomingHttpHeaders, name: string, read: ParameterReader['read']): unknown {
  if (!Object.hasOwn(headers, name)) return undefined
  const raw = headers[name]
  if (typeof raw !== 'string') return undefined
  const text = headerText(raw)
  return typeof text === 'string' ? read(text) : text
}

/** The credentials of `Authorization: Bearer` (RFC 6750). Anything else in the header is no key. */
export function readBearer(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1]
}

/** Node decodes headers as latin1; the bytes are UTF-8. */
function headerText(raw: string): string | InvalidValue {
  let ascii = true
  for (let i = 0; i < raw.length; i += 1) {
    const code = raw.charCodeAt(i)
    // Not from the network: a test injected text.
    if (code > 0xff) return raw
    if (code >= 0x80) ascii = false
  }
  if (ascii) return raw
  const bytes = Buffer.from(raw, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : notUtf8
}

function readString(value: unknown): string | InvalidValue | undefined {
  if (typeof value === 'string') {
    const text = value.trim()
    if (text === '') return undefined
    return isStorableText(text) ? text : brokenText
  }
  if (value === null || value === undefined) return undefined
  return typeof value === 'number' ? decimalText(value) : notText
}

function readInteger(value: unknown): number | InvalidValue | undefined {
  if (value === null || value === undefined) return undefined
  let number: number
  if (typeof value === 'number') number = value
  else if (typeof value === 'string') {
    const text = value.trim()
    if (text === '') return undefined
    if (!isIntegerText(text)) return notInteger
    number = Number(text)
  } else return notInteger
  // Adding zero turns -0 into 0.
  return Number.isSafeInteger(number) ? number + 0 : notInteger
}

function readBoolean(value: unknown): boolean | InvalidValue | undefined {
  if (typeof value === 'boolean') return value
  if (value === null || value === undefined) return undefined
  if (typeof value === 'number') return value === 1 ? true : value === 0 ? false : notBoolean
  if (typeof value !== 'string') return notBoolean
  const text = value.trim()
  if (text === '') return undefined
  // Only text as short as `false` is worth converting.
  const lower = text.length > 5 ? text : text.toLowerCase()
  if (lower === 'true' || lower === '1') return true
  return lower === 'false' || lower === '0' ? false : notBoolean
}

/** Items of an array stay exactly as sent; lines of a text are trimmed. */
function readList(value: unknown): readonly string[] | InvalidValue | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'string') {
    const text = value.trim()
    if (text === '') return undefined
    if (text.startsWith('[')) {
      const parsed = tryParseJson(text)
      return Array.isArray(parsed) ? listOf(parsed) : notList
    }
    if (text === '{}') return undefined
    return isStorableText(text) ? linesOf(text) : brokenText
  }
  if (Array.isArray(value)) return listOf(value)
  return typeof value === 'object' && Object.keys(value).length === 0 ? undefined : notList
}

function listOf(items: readonly unknown[]): readonly string[] | InvalidValue | undefined {
  if (items.length === 0) return undefined
  for (let i = 0; i < items.length; i += 1) {
    const item = items[i]
    if (typeof item !== 'string' || !isStorableText(item)) {
      return new InvalidValue(
        `必须是文本列表（[${i}] 不是有效文本）`,
        `must be a list of texts ([${i}] is not valid text)`,
      )
    }
  }
  return items as readonly string[]
}

/** Lines that are not blank, up to more than any operation accepts: splitting a megabyte of line breaks takes 100 ms. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = []
  let start = 0
  while (start < text.length && lines.length <= maxValues) {
    let end = start
    while (end < text.length && !isLineBreak(text.charCodeAt(end))) end += 1
    const line = end > start ? text.slice(start, end).trim() : ''
    if (line !== '') lines.push(line)
    start = end + 1
  }
  return lines
}

const isLineBreak = (code: number) => code === 0x0a || code === 0x0d

/** The operation checks the items. A text is JSON, or one item per line. */
function readItems(value: unknown): readonly unknown[] | InvalidValue | undefined {
  if (value === null || value === undefined) return undefined
  let list: unknown = value
  if (typeof value === 'string') {
    const text = value.trim()
    if (text === '') return undefined
    list = text.startsWith('[') ? tryParseJson(text) : linesOf(text)
  }
  if (!Array.isArray(list)) return notItems
  return list.length === 0 ? undefined : list
}

/** Values stay exactly as sent, including white space. */
export function readMap(value: unknown): ReadonlyMap<string, string> | InvalidValue | undefined {
  if (value === null || value === undefined) return undefined
  let object: unknown = value
  if (typeof value === 'string') {
    const text = value.trim()
    if (text === '') return undefined
    object = tryParseJson(text)
  }
  if (typeof object !== 'object' || object === null) return notMap
  if (Array.isArray(object)) {
    // PHP encodes an empty object as `[]`.
    return object.length === 0 ? new Map() : notMap
  }
  return mapOf(object as ParameterFields)
}

function mapOf(object: ParameterFields): ReadonlyMap<string, string> | InvalidValue {
  const map = new Map<string, string>()
  const wrong: string[] = []
  for (const name of Object.keys(object)) {
    const value = object[name]
    const text = typeof value === 'number' ? decimalText(value) : value
    if (typeof text === 'string' && isStorableText(text) && isStorableText(name) && !isForbiddenName(name)) {
      map.set(name, text)
    } else wrong.push(name)
  }
  if (wrong.length === 0) return map
  const names = wrong.slice(0, 10).map(printable).join(', ') + (wrong.length > 10 ? ', …' : '')
  return new InvalidValue(
    `的变量值必须是文本或可精确表示的数字：${names}`,
    `must have text or exact numbers as the values of its variables: ${names}`,
  )
}

function tryParseJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** JSON integers beyond 2^53 are strings already (`parseJson`); other inexact numbers have lost digits. */
function decimalText(value: number): string | InvalidValue {
  if (Number.isInteger(value)) return Number.isSafeInteger(value) ? String(value) : inexactNumber
  const text = String(value)
  return Number.isFinite(value) && !text.includes('e') ? text : inexactNumber
}

function isIntegerText(text: string): boolean {
  const start = text.charCodeAt(0) === 0x2d ? 1 : 0
  if (text.length === start) return false
  for (let i = start; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}
