// Reads a file of ip2region in the format xdb: which region an address belongs to. The whole file is in memory.
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'

const headerLength = 256
const vectorLength = 256 * 256 * 8
const lengthOf = { 4: { address: 4, record: 14 }, 6: { address: 16, record: 38 } } as const

export type IpVersion = keyof typeof lengthOf

export interface Xdb {
  readonly version: IpVersion
  /** The text of the region, such as `中国|0|广东省|深圳市|电信`; empty when the file has none. */
  find(address: Uint8Array): string
}

/** Checks the header of a file without reading the rest. Throws when it cannot be read or is not an xdb file. */
export function readXdbVersion(path: string): IpVersion {
  const file = openSync(path, 'r')
  try {
    const header = Buffer.alloc(headerLength)
    readSync(file, header, 0, headerLength, 0)
    return versionOf(header, fstatSync(file).size)
  } finally {
    closeSync(file)
  }
}

function versionOf(header: Buffer, fileLength: number): IpVersion {
  const structure = header.readUInt16LE(0)
  const version: number = structure === 2 ? 4 : header.readUInt16LE(16)
  const isKnown = (structure === 2 || structure === 3) && (version === 4 || version === 6)
  if (!isKnown || fileLength <= headerLength + vectorLength) throw new Error('no xdb file')
  const [first, last] = [header.readUInt32LE(8), header.readUInt32LE(12)]
  const end = last + lengthOf[version].record
  if (first < headerLength + vectorLength || last < first || end > fileLength)
    throw new Error('a damaged xdb file')
  return version
}

/** Throws when the file cannot be read or is not an xdb file. */
export function loadXdb(path: string): Xdb {
  const data = readFileSync(path)
  const version = versionOf(data, data.length)
  const { address: size, record } = lengthOf[version]

  function textAt(position: number): string {
    const pointer = data.readUInt32LE(position + 2)
    return data.toString('utf8', pointer, pointer + data.readUInt16LE(position))
  }

  /** Version 4 stores its addresses in little endian. */
  function compare(address: Uint8Array, position: number): number {
    for (let i = 0; i < size; i += 1) {
      const difference = address[i]! - data[position + (version === 4 ? size - 1 - i : i)]!
      if (difference !== 0) return difference
    }
    return 0
  }

  return {
    version,
    find(address) {
      const cell = headerLength + (address[0]! * 256 + address[1]!) * 8
      const start = data.readUInt32LE(cell)
      const end = data.readUInt32LE(cell + 4)
      if (start === 0 || end > data.length) return ''
      let low = 0
      let high = Math.floor((end - start) / record) - 1
      while (low <= high) {
        const middle = (low + high) >> 1
        const position = start + middle * record
        if (compare(address, position) < 0) high = middle - 1
        else if (compare(address, position + size) > 0) low = middle + 1
        else return textAt(position + 2 * size)
      }
      return ''
    },
  }
}
