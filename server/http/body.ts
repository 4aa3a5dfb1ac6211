// The body room: the bytes of a request become one JSON object, one form, nothing, or a 400 that says why.
import { randomUUID } from 'node:crypto'
import { malformed } from './errors.ts'
import {
  decodeBytes,
  forbiddenName,
  formOf,
  isForbiddenName,
  maximumDepth,
  parseForm,
  tooDeep,
  type Charset,
} from './form.ts'

interface BodyInput {
  readonly contentType: string | undefined
  readonly contentEncoding: string | undefined
  /** The whole body; whoever collects it keeps it under the size limit. */
  readonly body: Buffer
  /** False where only JSON is taken: a form is then as good as no body. */
  readonly readForms: boolean
}

export interface DecodedBody {
  readonly json?: Readonly<Record<string, unknown>>
  readonly form?: Readonly<Record<string, unknown>>
}

const noBody: DecodedBody = Object.freeze({})

/** Only multipart answers with a promise: JSON is the hot path and needs none. */
export function decodeBody(input: BodyInput): DecodedBody | Promise<DecodedBody> {
  if (input.body.length === 0) return noBody
  refuseContentEncoding(input.contentEncoding)

  const contentType = input.contentType ?? ''
  const kind = kindOf(mediaTypeOf(contentType))
  const isForm = kind !== 'json'
  const looksLikeJson = !isForm || startsWithBrace(input.body)
  if (!looksLikeJson && !input.readForms) return noBody

  const { body, charset } = withoutByteOrderMark(input.body, charsetOf(contentType))
  if (body.length === 0) return noBody
  if (!isForm) return { json: parseJsonObject(decodeBytes(body, charset)) }
  if (looksLikeJson) {
    const json = jsonUnderFormType(decodeBytes(body, charset))
    if (json !== undefined) return { json }
    if (!input.readForms) return noBody
  }
  if (kind === 'multipart') return decodeMultipart(body, contentType, charset)
  return { form: parseForm(body, charset) }
}

/** A text so short is parsed in no time, however it nests; how deep is seen when its names are looked at. */
const shortText = 4_096

/**
 * Whether JSON text nests deeper than we take. Looked at before parsing, because a megabyte of brackets costs
 * `JSON.parse` a tenth of a second and tens of megabytes, and this loop a millisecond.
 */
export function nestsTooDeep(text: string): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === 0x5c) i += 1
      else if (code === 0x22) inString = false
    } else if (code === 0x22) inString = true
    else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > maximumDepth) return true
    } else if (code === 0x7d || code === 0x5d) depth -= 1
  }
  return false
}

/** Perhaps a number with more digits than a number keeps; numbers inside texts only cost time. */
const longNumber = /[:[,]\s*-?\d{16}/

/**
 * JSON, but a whole number too long to be exact arrives as the text of its digits: an ID number, or a serial number of
 * ours. Not in lists, where no parameter has numbers.
 */
export function parseExactly(text: string): unknown {
  return longNumber.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
}

function keepDigits(
  this: unknown,
  _key: string,
  value: unknown,
  context?: { readonly source?: string },
): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || Array.isArray(this)) return value
  const digits = context?.source ?? ''
  return /^-?\d+$/.test(digits) ? digits : value
}

function parseJsonObject(text: string): Record<string, unknown> {
  if (text.length > shortText && nestsTooDeep(text)) throw tooDeep()
  let value: unknown
  try {
    value = parseExactly(text)
  } catch {
    // Without the cause: the parser quotes the body in its message, and the body may hold names, numbers and keys.
    throw malformed('请求体不是有效的 JSON', 'The body is not valid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('JSON 请求体必须是对象', 'The JSON body must be an object')
  }
  refuseForbiddenKeys(value)
  return value as Record<string, unknown>
}

/** `curl -d '{…}'` sends JSON under a form type. What does not parse is a form after all. */
function jsonUnderFormType(text: string): Record<string, unknown> | undefined {
  if (text.length > shortText && nestsTooDeep(text)) throw tooDeep()
  let value: unknown
  try {
    value = parseExactly(text)
  } catch {
    return undefined
  }
  // An object for certain: the text starts with a brace.
  refuseForbiddenKeys(value)
  return value as Record<string, unknown>
}

/** Recursion is safe here: it goes no deeper than we take. */
function refuseForbiddenKeys(value: unknown, depth = 1): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maximumDepth) throw tooDeep()
  if (Array.isArray(value)) {
    for (const item of value) refuseForbiddenKeys(item, depth + 1)
    return
  }
  const object = value as Record<string, unknown>
  for (const key of Object.keys(object)) {
    if (isForbiddenName(key)) throw forbiddenName()
    refuseForbiddenKeys(object[key], depth + 1)
  }
}

async function decodeMultipart(body: Buffer, contentType: string, charset: Charset): Promise<DecodedBody> {
  // Node's parser knows UTF-8 only. The delimiters are ASCII in both, so the body can be turned as a whole.
  const bytes = charset === 'utf-8' ? body : Buffer.from(decodeBytes(body, charset), 'utf8')
  let data: FormData
  try {
    data = await parseMultipart(bytes, contentType)
  } catch {
    throw malformed('multipart/form-data 请求体无法解析', 'The multipart/form-data body cannot be read')
  }
  const pairs: [string, string][] = []
  for (const [name, value] of data) {
    if (typeof value !== 'string') {
      throw malformed('表单不能包含文件', 'The form must not contain files')
    }
    pairs.push([name, value])
  }
  // After the files, which need not be text; the parser itself would put U+FFFD where bytes are wrong.
  decodeBytes(bytes, 'utf-8')
  return { form: formOf(pairs) }
}

const boundaryParameter = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i

/**
 * Node's parser takes the boundary for an end wherever it stands, in the middle of a value too. So the delimiters, which
 * start a line, get one that stands nowhere else.
 */
function parseMultipart(bytes: Buffer, contentType: string): Promise<FormData> {
  const [, quoted, plain] = boundaryParameter.exec(contentType) ?? []
  const boundary = quoted ?? plain ?? ''
  const unique = `tollgate-${randomUUID()}`
  const text = `\r\n${bytes.toString('latin1')}`.replaceAll(`\r\n--${boundary}`, `\r\n--${unique}`).slice(2)
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary === '' ? '' : unique}` }
  return new Response(Buffer.from(text, 'latin1'), { headers }).formData()
}

/** Nothing is ever decompressed, so that no small body can become a large one. */
function refuseContentEncoding(encoding: string | undefined): void {
  if (encoding === undefined) return
  const name = encoding.trim().toLowerCase()
  if (name === '' || name === 'identity') return
  throw malformed(
    '不支持压缩的请求体（Content-Encoding）',
    'Compressed bodies (Content-Encoding) are not supported',
  )
}

function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

function kindOf(mediaType: string): 'json' | 'urlencoded' | 'multipart' {
  if (mediaType === 'application/json' || mediaType === '' || mediaType.endsWith('+json')) {
    return 'json'
  }
  if (mediaType === 'application/x-www-form-urlencoded') return 'urlencoded'
  if (mediaType === 'multipart/form-data') return 'multipart'
  throw malformed(
    '不支持的 Content-Type，请使用 application/json 或 application/x-www-form-urlencoded',
    'Unsupported Content-Type: use application/json or application/x-www-form-urlencoded',
  )
}

function charsetOf(contentType: string): Charset {
  switch (charsetParameter(contentType)) {
    case '':
    case 'utf-8':
    case 'utf8':
    case 'us-ascii':
      return 'utf-8'
    case 'gbk':
    case 'gb2312':
    case 'gb18030':
      return 'gb18030'
    default:
      throw malformed('不支持的字符集，请使用 UTF-8 或 GBK', 'Unsupported charset: use UTF-8 or GBK')
  }
}

/** The first `charset`, without quotes, in lower case; empty when there is none. */
function charsetParameter(contentType: string): string {
  if (!contentType.includes(';')) return ''
  for (const part of contentType.split(';').slice(1)) {
    const equals = part.indexOf('=')
    if (equals === -1 || part.slice(0, equals).trim().toLowerCase() !== 'charset') continue
    const value = part.slice(equals + 1).trim()
    const quoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"')
    return (quoted ? value.slice(1, -1).trim() : value).toLowerCase()
  }
  return ''
}

/** A UTF-8 mark says more about the bytes than a header does: it wins over `charset=gbk`, as in browsers. */
function withoutByteOrderMark(body: Buffer, charset: Charset): { body: Buffer; charset: Charset } {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    return { body: body.subarray(3), charset: 'utf-8' }
  }
  if (charset === 'gb18030' && body[0] === 0x84 && body[1] === 0x31 && body[2] === 0x95 && body[3] === 0x33) {
    return { body: body.subarray(4), charset }
  }
  return { body, charset }
}

/** Past white space and a byte order mark. */
function startsWithBrace(body: Buffer): boolean {
  let at = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0
  for (; at < body.length; at += 1) {
    const code = body[at]
    if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return code === 0x7b
  }
  return false
}
