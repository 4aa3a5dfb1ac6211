// Reads single files of a ZIP archive. The sizes that an archive declares are not believed: unpacking stops at a limit.
import { BadFile } from './file-problems.ts'

interface Entry {
  readonly method: number
  readonly start: number
  readonly packedSize: number
}

export interface Archive {
  has(name: string): boolean
  /** The text of a file. All files together unpack to at most the limit. */
  read(name: string): Promise<string>
}

const maxEntries = 5_000
const endMark = 0x06054b50
const directoryMark = 0x02014b50
const localMark = 0x04034b50

export function openArchive(bytes: Uint8Array, maxUnpacked: number): Archive {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries = readDirectory(bytes, view)
  let left = maxUnpacked

  return {
    has: (name) => entries.has(name),
    async read(name) {
      const entry = entries.get(name)
      if (!entry) throw new BadFile('damaged')
      const packed = bytes.subarray(entry.start, entry.start + entry.packedSize)
      const content = entry.method === 0 ? packed : await inflate(packed, left)
      if (content.length > left) throw new BadFile('unpackedSize')
      left -= content.length
      return new TextDecoder().decode(content)
    },
  }
}

function readDirectory(bytes: Uint8Array, view: DataView): Map<string, Entry> {
  const end = findEnd(view)
  const count = view.getUint16(end + 10, true)
  if (count > maxEntries) throw new BadFile('damaged')
  const entries = new Map<string, Entry>()
  let at = view.getUint32(end + 16, true)
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== directoryMark) throw new BadFile('damaged')
    const flags = view.getUint16(at + 8, true)
    const method = view.getUint16(at + 10, true)
    const nameLength = view.getUint16(at + 28, true)
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
    const local = view.getUint32(at + 42, true)
    const isReadable = (flags & 1) === 0 && (method === 0 || method === 8)
    if (isReadable && local + 30 <= bytes.length && view.getUint32(local, true) === localMark) {
      const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
      const packedSize = view.getUint32(at + 20, true)
      if (start + packedSize <= bytes.length) entries.set(name, { method, start, packedSize })
    }
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}

/** The end of the directory is in the last bytes, before a comment of at most 65,535 bytes. */
function findEnd(view: DataView): number {
  const first = Math.max(0, view.byteLength - 65_557)
  for (let at = view.byteLength - 22; at >= first; at -= 1) {
    if (view.getUint32(at, true) === endMark) return at
  }
  throw new BadFile('damaged')
}

async function inflate(packed: Uint8Array, max: number): Promise<Uint8Array> {
  const stream = new Blob([packed as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream('deflate-raw'))
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      size += value.length
      if (size > max) throw new BadFile('unpackedSize')
      chunks.push(value)
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined)
    throw error instanceof BadFile ? error : new BadFile('damaged')
  }
  const content = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    content.set(chunk, at)
    at += chunk.length
  }
  return content
}
