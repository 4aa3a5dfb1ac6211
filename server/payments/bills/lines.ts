// Reads compressed bills line by line: gzip, and the files of a ZIP archive. What they expand to is limited.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { crc32, createGunzip, createInflateRaw } from 'node:zlib'
import { BillProblem } from './bill.ts'

const maxExpandedBytes = 1024 * 1024 * 1024
const maxLineLength = 64 * 1024
const maxFiles = 100

/** The bytes of a gzip file; throws BillProblem for anything else. */
export function gunzip(bytes: Buffer): AsyncIterable<Buffer> {
  return expand(bytes, createGunzip())
}

/** Hexadecimal SHA-1 of what a gzip file contains. */
export async function sha1OfGzip(bytes: Buffer): Promise<string> {
  const hash = createHash('sha1')
  for await (const chunk of gunzip(bytes)) hash.update(chunk)
  return hash.digest('hex')
}

async function* expand(bytes: Buffer, stream: NodeJS.ReadWriteStream): AsyncGenerator<Buffer> {
  let size = 0
  try {
    for await (const chunk of Readable.from([bytes]).pipe(stream) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxExpandedBytes) throw new BillProblem('too_large')
      yield chunk
    }
  } catch (error) {
    throw error instanceof BillProblem ? error : new BillProblem('unreadable_file')
  }
}

export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  encoding: 'utf-8' | 'gbk',
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/)
    rest = lines.pop() ?? ''
    if (rest.length > maxLineLength) throw new BillProblem('unreadable_line')
    yield* lines
  }
  yield rest + decoder.decode()
}

/** Reads a whole archive once, so that none of its rows is used when it is damaged. */
export async function requireIntact(bytes: Buffer): Promise<void> {
  for (const content of unzip(bytes)) await drain(content)
}

async function drain(chunks: AsyncIterable<Buffer>): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]()
  while ((await iterator.next()).done !== true);
}

const endSignature = 0x06054b50
const entrySignature = 0x02014b50
const fileSignature = 0x04034b50

/** The contents of the files of a ZIP archive, in the order of its directory. No encryption, no ZIP64. */
export function* unzip(bytes: Buffer): Generator<AsyncIterable<Buffer>> {
  const end = findEnd(bytes)
  const count = bytes.readUInt16LE(end + 10)
  let position = bytes.readUInt32LE(end + 16)
  if (count > maxFiles) throw new BillProblem('unreadable_file')
  for (let index = 0; index < count; index += 1) {
    if (position + 46 > bytes.length || bytes.readUInt32LE(position) !== entrySignature) {
      throw new BillProblem('unreadable_file')
    }
    const isEncrypted = (bytes.readUInt16LE(position + 8) & 1) === 1
    const method = bytes.readUInt16LE(position + 10)
    const size = bytes.readUInt32LE(position + 20)
    const start = contentStart(bytes, bytes.readUInt32LE(position + 42))
    const content = bytes.subarray(start, start + size)
    if (isEncrypted || content.length !== size || (method !== 0 && method !== 8)) {
      throw new BillProblem('unreadable_file')
    }
    const sum = bytes.readUInt32LE(position + 16)
    yield checked(method === 8 ? expand(content, createInflateRaw()) : stored(content), sum)
    const [name, extra, comment] = [28, 30, 32].map((offset) => bytes.readUInt16LE(position + offset))
    position += 46 + name! + extra! + comment!
  }
}

/** Throws at the end when the checksum differs. */
async function* checked(chunks: AsyncIterable<Buffer>, expected: number): AsyncGenerator<Buffer> {
  let sum = 0
  for await (const chunk of chunks) {
    sum = crc32(chunk, sum)
    yield chunk
  }
  if (sum !== expected) throw new BillProblem('wrong_checksum')
}

async function* stored(content: Buffer): AsyncGenerator<Buffer> {
  yield content
}

function findEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - 22 - 0xffff)
  for (let position = bytes.length - 22; position >= first; position -= 1) {
    if (bytes.readUInt32LE(position) === endSignature) return position
  }
  throw new BillProblem('unreadable_file')
}

function contentStart(bytes: Buffer, position: number): number {
  if (position + 30 > bytes.length || bytes.readUInt32LE(position) !== fileSignature) {
    throw new BillProblem('unreadable_file')
  }
  return position + 30 + bytes.readUInt16LE(position + 26) + bytes.readUInt16LE(position + 28)
}
