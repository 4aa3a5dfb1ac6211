// Decodes a request body: JSON, a form, or nothing. A body that cannot be read is a 400.
import { AppError, malformed } from './errors.ts'
import { type Charset, decodeBytes, parseForm } from './form.ts'
import { parseJsonObject, parseSafeJson } from './json.ts'
import { decodeMultipart } from './multipart.ts'

/** Decoding GBK takes four times as long as UTF-8. */
export const maxGbkKib = 256

interface BodyInput {
  readonly contentType: string | undefined
  readonly contentEncoding: string | undefined
  /** The whole body; the caller enforces the size limit. */
  readonly body: Buffer
  /** False where only JSON is accepted: a form then counts as no body. */
  readonly readForms: boolean
}

export interface DecodedBody {
  readonly json?: Readonly<Record<string, unknown>>
  readonly form?: Readonly<Record<string, unknown>>
  /** The body was a form where only JSON is accepted. */
  readonly ignoredForm?: true
}

const noBody: DecodedBody = Object.freeze({})
const ignoredForm: DecodedBody = Object.freeze({ ignoredForm: true })

export function decodeBody(input: BodyInput): DecodedBody {
  if (input.body.length === 0) return noBody
  rejectContentEncoding(input.contentEncoding)

  const contentType = input.contentType ?? ''
  const kind = kindOf(mediaTypeOf(contentType))
  const isForm = kind !== 'json'
  const mayBeJson = !isForm || startsWithBrace(input.body)
  if (!mayBeJson && !input.readForms) return ignoredForm

  const { body, charset } = withoutByteOrderMark(input.body, charsetOf(contentType))
  if (body.length === 0) return noBody
  if (charset === 'gb18030' && body.length > maxGbkKib * 1_024) throw gbkTooLarge()
  if (!isForm) return { json: parseJsonObject(decodeBytes(body, charset)) }
  if (mayBeJson) {
    const json = parseJsonUnderFormType(decodeBytes(body, charset))
    if (json !== undefined) return { json }
    if (!input.readForms) return ignoredForm
  }
  if (kind === 'urlencoded') return { form: parseForm(body, charset) }
  // The delimiters are ASCII in both charsets, so the body can be converted as a whole.
  const utf8 = charset === 'utf-8' ? body : Buffer.from(decodeBytes(body, charset), 'utf8')
  return { form: decodeMultipart(utf8, contentType) }
}

function gbkTooLarge(): AppError {
  const text = {
    zh: `GBK 编码的请求体超过 ${maxGbkKib} KiB`,
    en: `A body in GBK has at most ${maxGbkKib} KiB`,
  }
  return new AppError(1002, text, { status: 413 })
}

/** `curl -d '{…}'` sends JSON with a form content type. Returns undefined when it does not parse. */
function parseJsonUnderFormType(text: string): Record<string, unknown> | undefined {
  try {
    // The text starts with a brace, so this is an object.
    return parseSafeJson(text) as Record<string, unknown>
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Compressed bodies are rejected: decompressing could turn a small body into a huge one. */
function rejectContentEncoding(encoding: string | undefined): void {
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

/** The first `charset` parameter in lower case; empty when absent. */
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

/** As in browsers, a UTF-8 byte order mark overrides the charset of the header. */
function withoutByteOrderMark(body: Buffer, charset: Charset): { body: Buffer; charset: Charset } {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    return { body: body.subarray(3), charset: 'utf-8' }
  }
  if (charset === 'gb18030' && body[0] === 0x84 && body[1] === 0x31 && body[2] === 0x95 && body[3] === 0x33) {
    return { body: body.subarray(4), charset }
  }
  return { body, charset }
}

/** Ignores white space and a byte order mark. */
function startsWithBrace(body: Buffer): boolean {
  let position = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0
  for (; position < body.length; position += 1) {
    const code = body[position]
    if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return code === 0x7b
  }
  return false
}
