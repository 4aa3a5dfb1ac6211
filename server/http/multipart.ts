// Reads the fields of a multipart/form-data body.
//
// Not `@fastify/busboy`: it silently skips parts without a readable header and decodes with replacement characters, both of which
// are errors here, and it creates a stream for each part (2,000 parts take 100 ms).
import { type AppError, malformed } from './errors.ts'
import { decodeBytes, maxFields, parseFields, tooManyFields } from './form.ts'

/** Of RFC 2046. */
const maxBoundaryLength = 70

/** Of one part. Browsers and curl send about 100 bytes. */
const maxHeaderBytes = 2_048

/** Of all parts together: 1,200 parts with 200 bytes each. */
const maxHeadersBytes = 240_000

/** White space after a delimiter; clients send none. */
const maxPadding = 256

const boundaryParameter = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i
const dispositionHeader = /^content-disposition:[ \t]*(form-data[ \t]*;.*)$/im
const nameParameter = /;\s*name=(?:"([^"]*)"|([^;\s]+))/i
const fileParameter = /;\s*filename\*?=/i

/** The body is in UTF-8; rejects files. */
export function decodeMultipart(body: Buffer, contentType: string): Record<string, unknown> {
  const [, quoted, unquoted] = boundaryParameter.exec(contentType) ?? []
  return parseFields(fieldsOf(body, quoted ?? unquoted ?? ''))
}

function* fieldsOf(body: Buffer, boundary: string): Generator<[string, string]> {
  if (boundary === '' || boundary.length > maxBoundaryLength) throw unreadable()
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const first = delimiter.subarray(2)
  const startsWithDelimiter = body.subarray(0, first.length).equals(first)
  const start = startsWithDelimiter ? -2 : body.indexOf(delimiter)
  if (start === -1) throw unreadable()
  let position = start + delimiter.length
  let headersBytes = 0
  for (let count = 0; !isLast(body, position); count += 1) {
    if (count === maxFields) throw tooManyFields()
    const partStart = endOfLine(body, position)
    const partEnd = body.indexOf(delimiter, partStart - 2)
    if (partEnd === -1) throw unreadable()
    const part = body.subarray(partStart, partEnd)
    const headerEnd = part.subarray(0, maxHeaderBytes).indexOf('\r\n\r\n')
    if (headerEnd === -1) throw unreadable()
    if ((headersBytes += headerEnd) > maxHeadersBytes) throw tooManyFields()
    yield readPart(part, headerEnd)
    position = partEnd + delimiter.length
  }
}

/** Whether `--` follows the delimiter. What comes after the last delimiter is ignored. */
function isLast(body: Buffer, position: number): boolean {
  return body[position] === 0x2d && body[position + 1] === 0x2d
}

/** Only white space may follow a delimiter. Returns the start of the next line. */
function endOfLine(body: Buffer, start: number): number {
  let position = start
  const limit = start + maxPadding
  while (position < limit && (body[position] === 0x20 || body[position] === 0x09)) position += 1
  if (body[position] !== 0x0d || body[position + 1] !== 0x0a) throw unreadable()
  return position + 2
}

function readPart(part: Buffer, headerEnd: number): [string, string] {
  const [, disposition] = dispositionHeader.exec(part.toString('latin1', 0, headerEnd)) ?? []
  if (disposition === undefined) throw unreadable()
  if (fileParameter.test(disposition)) throw malformed('表单不能包含文件', 'The form must not contain files')
  const [whole, quotedName, name] = nameParameter.exec(disposition) ?? []
  if (whole === undefined) throw unreadable()
  return [
    decodeBytes(Buffer.from(quotedName ?? name ?? '', 'latin1'), 'utf-8'),
    decodeBytes(part.subarray(headerEnd + 4), 'utf-8'),
  ]
}

function unreadable(): AppError {
  return malformed('multipart/form-data 请求体无法解析', 'The multipart/form-data body cannot be read')
}
