// Parses forms and query strings with PHP brackets in the names into objects, lists and strings.
//
// Not `qs`: it turns a list with a large index into an object or allocates up to that index (`u[20000000]=a` takes half a
// second), and it silently drops `__proto__`, which must be a 400 here. It also reads neither GBK nor rejects invalid
// percent-encoding.
import { isUtf8 } from 'node:buffer'
import { malformed, type AppError } from './errors.ts'

/** gbk and gb2312 are subsets of gb18030. */
export type Charset = 'utf-8' | 'gb18030'

/** How deep JSON and bracketed names may nest; the outermost object is level 1. */
export const maxDepth = 20

/** Of forms. Lists must be able to hold 1,000 items; this leaves space for other fields. */
export const maxFields = 1_200

/** Of all bracketed names together: 1,200 names of 20 levels would take 60 ms. `urls[0]` has two. */
const maxLevels = 2 * maxFields

/** Of one name as sent, of a form or in JSON. */
export const maxNameLength = 400

/** Longer text is decoded as bytes: `decodeURIComponent` and `replaceAll` take 250 ms for a megabyte of `+`. */
const maxDecodedAsText = 128

const forbiddenNames = ['__proto__', 'constructor', 'prototype'] as const
const forbiddenInBrackets = /(?:^|[[\]])(?:__proto__|constructor|prototype)(?:$|[[\]])/

const gb18030 = new TextDecoder('gb18030', { fatal: true, ignoreBOM: true })

interface Node {
  /** Values of this exact name; several when the field is repeated. */
  readonly texts: string[]
  /** `name[key]` */
  named: Map<string, Node> | undefined
  /** `name[]` */
  appended: Node[] | undefined
}

/** Names that could reach a prototype. */
export function isForbiddenName(name: string): boolean {
  return name === '__proto__' || name === 'constructor' || name === 'prototype'
}

export function forbiddenName(): AppError {
  return malformed(
    '请求中含有不允许的字段名（__proto__、constructor、prototype）',
    'The request contains a field name that is not allowed (__proto__, constructor, prototype)',
  )
}

export function tooDeep(): AppError {
  return malformed(`请求嵌套超过 ${maxDepth} 层`, `The request nests deeper than ${maxDepth} levels`)
}

export function tooManyFields(): AppError {
  return malformed(`参数过多，最多 ${maxFields} 个`, `Too many parameters: at most ${maxFields}`)
}

export function nameTooLong(): AppError {
  return malformed(
    `参数名过长，最多 ${maxNameLength} 个字符`,
    `A name is too long: at most ${maxNameLength} characters`,
  )
}

/** Invalid bytes are an error; they are never replaced. */
export function decodeBytes(bytes: Buffer, charset: Charset): string {
  if (charset === 'utf-8') {
    if (!isUtf8(bytes)) throw malformed('请求不是有效的 UTF-8 编码', 'The request is not valid UTF-8')
    return bytes.toString('utf8')
  }
  try {
    return gb18030.decode(bytes)
  } catch {
    throw malformed('请求不是有效的 GBK/GB18030 编码', 'The request is not valid GBK/GB18030')
  }
}

/**
 * Parses `application/x-www-form-urlencoded`. A string is a query string of Node with one character per byte; a string
 * with characters above U+00FF is taken as text.
 */
export function parseForm(input: string | Buffer, charset: Charset = 'utf-8'): Record<string, unknown> {
  const bytes = typeof input === 'string' ? byteString(input) : input.toString('latin1')
  rejectManyPairs(bytes)
  return parseFields(urlencodedPairs(bytes, charset))
}

/** Builds the object from decoded names and values. */
export function parseFields(pairs: Iterable<readonly [string, string]>): Record<string, unknown> {
  const root = new Map<string, Node>()
  let count = 0
  let levels = 0
  for (const [name, value] of pairs) {
    count += 1
    if (count > maxFields) throw tooManyFields()
    if (name === '') continue
    levels += insert(root, name, value)
    if (levels > maxLevels) throw tooManyFields()
  }
  return objectOf(root)
}

function byteString(text: string): string {
  for (let i = 0; i < text.length; i += 1) {
    if (text.charCodeAt(i) > 0xff) return Buffer.from(text, 'utf8').toString('latin1')
  }
  return text
}

/** Before the first one is decoded. */
function rejectManyPairs(bytes: string): void {
  let count = 0
  for (let end = bytes.indexOf('&'); end !== -1; end = bytes.indexOf('&', end + 1)) {
    if ((count += 1) > maxFields) throw tooManyFields()
  }
}

// A generator, so that the limit on fields stops the parsing as well.
function* urlencodedPairs(bytes: string, charset: Charset): Generator<[string, string]> {
  let start = 0
  while (start < bytes.length) {
    if (bytes.charCodeAt(start) === 0x26) {
      start += 1
      continue
    }
    let end = bytes.indexOf('&', start)
    if (end === -1) end = bytes.length
    // Sliced first: searching the whole rest for `=` would be quadratic.
    const pair = bytes.slice(start, end)
    const equals = pair.indexOf('=')
    if ((equals === -1 ? pair.length : equals) > maxNameLength) throw nameTooLong()
    if (equals === -1) yield [decodeComponent(pair, charset), '']
    else {
      yield [
        decodeComponent(pair.slice(0, equals), charset),
        decodeComponent(pair.slice(equals + 1), charset),
      ]
    }
    start = end + 1
  }
}

function decodeComponent(bytes: string, charset: Charset): string {
  if (bytes.length > maxDecodedAsText) return decodeBytes(percentDecode(bytes), charset)
  let ascii = true
  let plain = true
  for (let i = 0; i < bytes.length; i += 1) {
    const code = bytes.charCodeAt(i)
    if (code >= 0x80) ascii = false
    else if (code === 0x25 || code === 0x2b) plain = false
  }
  if (ascii && plain) return bytes
  if (ascii && charset === 'utf-8') {
    try {
      return decodeURIComponent(bytes.replaceAll('+', ' '))
    } catch {
      throw badPercent()
    }
  }
  return decodeBytes(percentDecode(bytes), charset)
}

/** Decodes to bytes: a GBK character may consist of an escape and a plain letter. */
function percentDecode(text: string): Buffer {
  // In place: decoded text is never longer.
  const bytes = Buffer.from(text, 'latin1')
  // Three times as fast as the loop below, for a megabyte of `+`.
  if (!text.includes('%')) {
    for (let i = 0; i < bytes.length; i += 1) if (bytes[i] === 0x2b) bytes[i] = 0x20
    return bytes
  }
  let length = 0
  for (let i = 0; i < bytes.length; i += 1) {
    let code = bytes[i]!
    if (code === 0x2b) code = 0x20
    else if (code === 0x25) {
      if (i + 2 >= bytes.length) throw badPercent()
      // Negative when one of the two is no digit.
      code = (hexDigits[bytes[i + 1]!]! << 4) | hexDigits[bytes[i + 2]!]!
      if (code < 0) throw badPercent()
      i += 2
    }
    bytes[length] = code
    length += 1
  }
  return bytes.subarray(0, length)
}

/** The value of each hexadecimal digit by its code, and -1 for every other byte: a third of the time of comparisons. */
const hexDigits = new Int8Array(256).fill(-1)
for (let value = 0; value < 16; value += 1) {
  const digit = value.toString(16)
  hexDigits[digit.charCodeAt(0)] = value
  hexDigits[digit.toUpperCase().charCodeAt(0)] = value
}

function badPercent(): AppError {
  return malformed('表单或查询参数的百分号编码无效', 'The percent-encoding of the form or query is not valid')
}

/** Returns the number of levels of the name. */
function insert(root: Map<string, Node>, name: string, value: string): number {
  const path = pathOf(name)
  let node = child(root, path[0] ?? name)
  for (let i = 1; i < path.length; i += 1) {
    const key = path[i] ?? ''
    if (key === '') {
      const next = newNode()
      node.appended ??= []
      node.appended.push(next)
      node = next
    } else {
      node.named ??= new Map()
      node = child(node.named, key)
    }
  }
  node.texts.push(value)
  return path.length
}

/** `a[b][]` becomes a, b, ''. A name with unclosed brackets or text after them is one plain name. */
function pathOf(name: string): readonly string[] {
  const open = name.indexOf('[')
  if (open === -1) {
    if (isForbiddenName(name)) throw forbiddenName()
    return [name]
  }
  rejectForbiddenInBrackets(name)
  if (open === 0) return [name]
  const path = [name.slice(0, open)]
  let position = open
  while (position < name.length) {
    const close = name.charCodeAt(position) === 0x5b ? name.indexOf(']', position) : -1
    if (close === -1) return [name]
    path.push(name.slice(position + 1, close))
    if (path.length > maxDepth) throw tooDeep()
    position = close + 1
  }
  return path
}

/** Also in unclosed brackets: `a[__proto__` is an attack. */
function rejectForbiddenInBrackets(name: string): void {
  // The cheap check first: the pattern takes milliseconds for a megabyte of brackets.
  if (!forbiddenNames.some((forbidden) => name.includes(forbidden))) return
  if (forbiddenInBrackets.test(name)) throw forbiddenName()
}

function newNode(): Node {
  return { texts: [], named: undefined, appended: undefined }
}

function child(nodes: Map<string, Node>, key: string): Node {
  let node = nodes.get(key)
  if (node === undefined) {
    node = newNode()
    nodes.set(key, node)
  }
  return node
}

function objectOf(nodes: Map<string, Node>): Record<string, unknown> {
  const result = Object.create(null) as Record<string, unknown>
  for (const [name, node] of nodes) result[name] = valueOf(node)
  return result
}

function valueOf({ texts, named, appended }: Node): unknown {
  if (named === undefined && appended === undefined) return texts.length === 1 ? texts[0] : texts
  const indexed = named === undefined ? [] : [...named]
  if (!indexed.every(([key]) => isIndex(key))) {
    if (named === undefined || texts.length > 0 || appended !== undefined) {
      throw malformed(
        '同一字段不能既是列表或文本又是对象',
        'A field cannot be a list or a text and an object at once',
      )
    }
    return objectOf(named)
  }
  indexed.sort(([a], [b]) => Number(a) - Number(b))
  const list: unknown[] = texts
  for (const [, node] of indexed) list.push(valueOf(node))
  if (appended !== undefined) for (const node of appended) list.push(valueOf(node))
  return list
}

/** A canonical decimal index; `007` and `1e3` are names. Fifteen digits are exact as a number. */
function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,14})$/.test(key)
}
