// The parameter room: each declared parameter is looked up on its own in headers, JSON, form and query, and read as its type.
import { isStorableText, printable } from '../../contract/values.ts'
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { ParameterType, Parameters, Values } from '../../contract/parameters.ts'
import type { Text } from '../../contract/text.ts'
import { nestsTooDeep, parseExactly } from './body.ts'
import { AppError } from './errors.ts'
import { isForbiddenName } from './form.ts'

export type ParameterSource = 'header' | 'json' | 'form' | 'query'

type Fields = Readonly<Record<string, unknown>>

export interface ParameterSources {
  readonly headers: IncomingHttpHeaders
  readonly json?: Fields | undefined
  readonly form?: Fields | undefined
  readonly query?: Fields | undefined
}

export interface InvalidParameter {
  readonly name: string
  /** What follows the name in a message: `必须是整数`, `must be an integer`. */
  readonly text: Text
}

export interface ReadResult<P extends Parameters> {
  /** Only to be trusted when nothing is missing and nothing invalid. */
  readonly values: Values<P>
  /** Where each one stood that was given, right or wrong. */
  readonly sources: Partial<Record<keyof P & string, ParameterSource>>
  readonly missing: readonly string[]
  readonly invalid: readonly InvalidParameter[]
}

/** A description, unfolded once: descriptions are constants and calls are many. */
interface Slot {
  readonly name: string
  /** The form that proxies let through; undefined when it is the same. */
  readonly hyphenName: string | undefined
  readonly read: (value: unknown) => unknown
  readonly required: boolean
}

/** What a reader answers when a value is there and wrong. `undefined` means that it counts as not given. */
class Refusal {
  readonly text: Text

  constructor(zh: string, en: string) {
    this.text = { zh, en }
  }
}

const notText = new Refusal('必须是文本', 'must be text')
const brokenText = new Refusal('含有无效字符', 'contains characters that are not valid text')
const notUtf8 = new Refusal('不是有效的 UTF-8 文本', 'must be valid UTF-8 text')
const inexactNumber = new Refusal(
  '数字无法精确表示，请以文本传递',
  'is a number that cannot be kept exactly, send it as text',
)
const notInteger = new Refusal('必须是整数', 'must be an integer')
const notBoolean = new Refusal('必须是 true 或 false', 'must be true or false')
const notList = new Refusal('必须是文本列表', 'must be a list of texts')
const notMap = new Refusal('必须是由变量名和值组成的对象', 'must be an object of variable names and values')

const readers: Readonly<Record<ParameterType, (value: unknown) => unknown>> = {
  string: readString,
  integer: readInteger,
  boolean: readBoolean,
  list: readList,
  map: readMap,
}

const slotsOf = new WeakMap<Parameters, readonly Slot[]>()

/** The sources are noted in `found`, beside those of other parameters. */
export function readParameters<const P extends Parameters>(
  sources: ParameterSources,
  description: P,
  found: Record<string, ParameterSource> = {},
): ReadResult<P> {
  const values: Record<string, unknown> = {}
  const missing: string[] = []
  const invalid: InvalidParameter[] = []

  for (const slot of slots(description)) {
    let source: ParameterSource = 'header'
    let value = fromHeaders(sources.headers, slot)
    if (value === undefined) {
      source = 'json'
      value = fromFields(sources.json, slot)
    }
    if (value === undefined) {
      source = 'form'
      value = fromFields(sources.form, slot)
    }
    if (value === undefined) {
      source = 'query'
      value = fromFields(sources.query, slot)
    }

    if (value === undefined) {
      if (slot.required) missing.push(slot.name)
    } else {
      found[slot.name] = source
      if (value instanceof Refusal) invalid.push({ name: slot.name, text: value.text })
      else values[slot.name] = value
    }
  }
  return { values: values as Values<P>, sources: found as ReadResult<P>['sources'], missing, invalid }
}

/** One error for all that is wrong, what is invalid first. Without the key the caller is nobody yet: 401. */
export function parameterError(missing: readonly string[], invalid: readonly InvalidParameter[]): AppError {
  const zh = invalid.map(({ name, text }) => `${name} ${text.zh}`)
  const en = invalid.map(({ name, text }) => `${name} ${text.en}`)
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

function slots(description: Parameters): readonly Slot[] {
  let known = slotsOf.get(description)
  if (known === undefined) {
    known = Object.entries(description).map(([name, { type, required }]) => ({
      name,
      hyphenName: name.includes('_') ? name.replaceAll('_', '-') : undefined,
      read: readers[type],
      required,
    }))
    slotsOf.set(description, known)
  }
  return known
}

function fromFields(fields: Fields | undefined, { name, read }: Slot): unknown {
  return fields !== undefined && Object.hasOwn(fields, name) ? read(fields[name]) : undefined
}

function fromHeaders(headers: IncomingHttpHeaders, { name, hyphenName, read }: Slot): unknown {
  const value = fromHeader(headers, name, read)
  if (value !== undefined || hyphenName === undefined) return value
  return fromHeader(headers, hyphenName, read)
}

function fromHeader(headers: IncomingHttpHeaders, name: string, read: Slot['read']): unknown {
  if (!Object.hasOwn(headers, name)) return undefined
  const raw = headers[name]
  if (typeof raw !== 'string') return undefined
  const text = headerText(raw)
  return typeof text === 'string' ? read(text) : text
}

/** Node hands headers over with one character per byte; the bytes are UTF-8. */
function headerText(raw: string): string | Refusal {
  let ascii = true
  for (let i = 0; i < raw.length; i += 1) {
    const code = raw.charCodeAt(i)
    // Beyond a byte it never came over a wire: a test injected the text itself.
    if (code > 0xff) return raw
    if (code >= 0x80) ascii = false
  }
  if (ascii) return raw
  const bytes = Buffer.from(raw, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : notUtf8
}

/** White space around a value is a slip of copying and never meant: it is cut off. */
function readString(value: unknown): string | Refusal | undefined {
  if (typeof value === 'string') {
    const text = value.trim()
    if (text === '') return undefined
    return isStorableText(text) ? text : brokenText
  }
  if (value === null || value === undefined) return undefined
  return typeof value === 'number' ? decimalText(value) : notText
}

function readInteger(value: unknown): number | Refusal | undefined {
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

function readBoolean(value: unknown): boolean | Refusal | undefined {
  if (typeof value === 'boolean') return value
  if (value === null || value === undefined) return undefined
  if (typeof value === 'number') return value === 1 ? true : value === 0 ? false : notBoolean
  if (typeof value !== 'string') return notBoolean
  const text = value.trim()
  if (text === '') return undefined
  // Nothing longer than `false` needs to be turned to lower case.
  const word = text.length > 5 ? text : text.toLowerCase()
  if (word === 'true' || word === '1') return true
  return word === 'false' || word === '0' ? false : notBoolean
}

/** The items of a list are left exactly as sent; the lines of a text are trimmed. */
function readList(value: unknown): readonly string[] | Refusal | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'string') {
    const text = value.trim()
    if (text === '') return undefined
    if (text.startsWith('[')) {
      const parsed = parseJson(text)
      return Array.isArray(parsed) ? listOf(parsed) : notList
    }
    if (text === '{}') return undefined
    return isStorableText(text) ? linesOf(text) : brokenText
  }
  if (Array.isArray(value)) return listOf(value)
  return typeof value === 'object' && Object.keys(value).length === 0 ? undefined : notList
}

function listOf(items: readonly unknown[]): readonly string[] | Refusal | undefined {
  if (items.length === 0) return undefined
  for (let i = 0; i < items.length; i += 1) {
    const item = items[i]
    if (typeof item !== 'string' || !isStorableText(item)) {
      return new Refusal(
        `必须是文本列表（第 ${i + 1} 项不是有效文本）`,
        `must be a list of texts (item ${i + 1} is not valid text)`,
      )
    }
  }
  return items as readonly string[]
}

function linesOf(text: string): readonly string[] {
  const lines: string[] = []
  for (const line of text.split(/[\r\n]/)) {
    const trimmed = line.trim()
    if (trimmed !== '') lines.push(trimmed)
  }
  return lines
}

/** The values of variables are left exactly as sent: they are content, not names. */
function readMap(value: unknown): ReadonlyMap<string, string> | Refusal | undefined {
  if (value === null || value === undefined) return undefined
  let object: unknown = value
  if (typeof value === 'string') {
    const text = value.trim()
    if (text === '') return undefined
    object = parseJson(text)
  }
  if (typeof object !== 'object' || object === null) return notMap
  if (Array.isArray(object)) {
    // PHP writes an empty array, which may be meant as an empty object, as `[]`.
    return object.length === 0 ? new Map() : notMap
  }
  return mapOf(object as Fields)
}

function mapOf(object: Fields): ReadonlyMap<string, string> | Refusal {
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
  return new Refusal(
    `的变量值必须是文本或可精确表示的数字：${names}`,
    `must have text or exact numbers as the values of its variables: ${names}`,
  )
}

function parseJson(text: string): unknown {
  if (nestsTooDeep(text)) return undefined
  try {
    return parseExactly(text)
  } catch {
    return undefined
  }
}

/**
 * The digits that were sent, or a refusal. A long whole number in JSON is its digits already; what is still not exact
 * has lost some, and an exponent is no decimal text.
 */
function decimalText(value: number): string | Refusal {
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
