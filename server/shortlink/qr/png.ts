// Writes PNG files, and reads the simple ones that logos are sent as.
import { promisify } from 'node:util'
import { crc32, deflate, inflateSync } from 'node:zlib'

const compress = promisify(deflate)

/** Rows of red, green, blue and alpha, without padding. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/**
 * Eight bits of red, green and blue; without alpha, because the code covers everything. Compressed in a thread: millions of pixels
 * would take the event loop a tenth of a second.
 */
export async function writePng({ width, height, data }: Pixels): Promise<Buffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', await compress(scanlinesOf({ width, height, data }))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Most lines of a QR code repeat the one above: they become the filter "up" with zeros, which takes almost no time. */
function scanlinesOf({ width, height, data }: Pixels): Buffer {
  const pixels = Buffer.from(data.buffer, data.byteOffset, data.length)
  const raw = Buffer.alloc(height * (1 + width * 3))
  const lineBytes = width * 4
  for (let y = 0; y < height; y += 1) {
    const start = y * lineBytes
    let out = y * (1 + width * 3)
    if (y > 0 && pixels.compare(pixels, start - lineBytes, start, start, start + lineBytes) === 0) {
      raw[out] = 2
      continue
    }
    for (let at = start; at < start + lineBytes; at += 4) {
      raw[(out += 1)] = data[at]!
      raw[(out += 1)] = data[at + 1]!
      raw[(out += 1)] = data[at + 2]!
    }
  }
  return raw
}

function chunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(data.length, 0)
  head.write(type, 4, 'latin1')
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(data, crc32(head.subarray(4))), 0)
  return Buffer.concat([head, data, check])
}

/**
 * Eight bits per channel, with or without alpha, not interlaced: what a browser's canvas writes. Undefined for everything else,
 * and for anything that claims to be larger than `maxPixels` in either direction.
 */
export function readPng(file: Buffer, maxPixels: number): Pixels | undefined {
  if (!file.subarray(0, 8).equals(signature) || file.length < 45) return undefined
  const width = file.readUInt32BE(16)
  const height = file.readUInt32BE(20)
  const [depth, color, compression, filter, interlace] = file.subarray(24, 29)
  const channels = color === 6 ? 4 : color === 2 ? 3 : 0
  if (file.toString('latin1', 12, 16) !== 'IHDR' || depth !== 8 || channels === 0) return undefined
  if (compression !== 0 || filter !== 0 || interlace !== 0) return undefined
  if (width < 1 || height < 1 || width > maxPixels || height > maxPixels) return undefined
  const length = height * (1 + width * channels)
  const parts: Buffer[] = []
  for (let at = 33; at + 12 <= file.length;) {
    const size = file.readUInt32BE(at)
    if (size > file.length - at - 12) return undefined
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(file.subarray(at + 8, at + 8 + size))
    at += size + 12
  }
  try {
    // The limit keeps a small file from unpacking to gigabytes.
    const raw = inflateSync(Buffer.concat(parts), { maxOutputLength: length })
    return raw.length === length ? { width, height, data: unfilter(raw, width, height, channels) } : undefined
  } catch {
    return undefined
  }
}

/** Undoes the filters of PNG (RFC 2083, section 6). */
function unfilter(raw: Buffer, width: number, height: number, channels: number): Uint8Array {
  const stride = width * channels
  const lines = new Uint8Array(height * stride)
  for (let y = 0; y < height; y += 1) {
    const kind = raw[y * (stride + 1)]
    for (let x = 0; x < stride; x += 1) {
      const value = raw[y * (stride + 1) + 1 + x]!
      const left = x >= channels ? lines[y * stride + x - channels]! : 0
      const up = y > 0 ? lines[(y - 1) * stride + x]! : 0
      const corner = x >= channels && y > 0 ? lines[(y - 1) * stride + x - channels]! : 0
      lines[y * stride + x] = value + predict(kind, left, up, corner)
    }
  }
  const data = new Uint8Array(width * height * 4)
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    for (let channel = 0; channel < 4; channel += 1) {
      data[pixel * 4 + channel] = channel < channels ? lines[pixel * channels + channel]! : 255
    }
  }
  return data
}

function predict(kind: number | undefined, left: number, up: number, corner: number): number {
  switch (kind) {
    case 1:
      return left
    case 2:
      return up
    case 3:
      return Math.floor((left + up) / 2)
    case 4: {
      const base = left + up - corner
      const [a, b, c] = [Math.abs(base - left), Math.abs(base - up), Math.abs(base - corner)]
      return a <= b && a <= c ? left : b <= c ? up : corner
    }
    default:
      return 0
  }
}
