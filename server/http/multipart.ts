// Reads the fields of a multipart/form-data body.
//
// Dicer, the parser below busboy, and not busboy itself: busboy silently skips parts that it cannot read, and decodes
// with replacement characters. Here both are errors.
import { Dicer } from '@fastify/busboy'
import { malformed } from './errors.ts'
import { decodeBytes, maxFields, parseFields } from './form.ts'

const boundaryParameter = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i
const nameParameter = /;\s*name=(?:"([^"]*)"|([^;\s]+))/i
const fileParameter = /;\s*filename\*?=/i

interface FormPart {
  disposition: string
  readonly chunks: Buffer[]
}

/** The body is in UTF-8; rejects files. */
export async function decodeMultipart(body: Buffer, contentType: string): Promise<Record<string, unknown>> {
  const [, quoted, unquoted] = boundaryParameter.exec(contentType) ?? []
  const parts = await splitParts(body, quoted ?? unquoted ?? '').catch(() => {
    throw malformed('multipart/form-data 请求体无法解析', 'The multipart/form-data body cannot be read')
  })
  if (parts.some(({ disposition }) => fileParameter.test(disposition))) {
    throw malformed('表单不能包含文件', 'The form must not contain files')
  }
  return parseFields(
    parts.map(({ disposition, chunks }) => {
      const [, quotedName, name] = nameParameter.exec(disposition)!
      return [
        decodeBytes(Buffer.from(quotedName ?? name ?? '', 'latin1'), 'utf-8'),
        decodeBytes(Buffer.concat(chunks), 'utf-8'),
      ] as const
    }),
  )
}

/** Rejects when the end is missing, and when a part has no name. */
function splitParts(body: Buffer, boundary: string): Promise<readonly FormPart[]> {
  return new Promise((resolve, reject) => {
    if (boundary === '') throw new Error('no boundary')
    const parts: FormPart[] = []
    const parser = new Dicer({ boundary })
    parser.on('part', (stream) => {
      const part: FormPart = { disposition: '', chunks: [] }
      // One more than allowed is enough for the error. Throwing stops the parser, which allocates a stream for each part.
      if (parts.push(part) > maxFields + 1) throw new Error('too many parts')
      stream.on('header', (header) => {
        part.disposition = (header as Record<string, string[]>)['content-disposition']?.[0] ?? ''
      })
      stream.on('data', (chunk: Buffer) => part.chunks.push(chunk))
      stream.on('error', reject)
    })
    parser.on('error', reject)
    parser.on('finish', () => {
      if (
        parts.every(
          ({ disposition }) => /^form-data\s*;/i.test(disposition) && nameParameter.test(disposition),
        )
      )
        resolve(parts)
      else reject(new Error('a part without a name'))
    })
    parser.end(body)
  })
}
