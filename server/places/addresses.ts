// Bytes of IP addresses, and which of them have no place.
import { BlockList, isIP } from 'node:net'
import { specialNetworks } from '../http/special-networks.ts'

const withoutPlace = new BlockList()
for (const [network, bits] of specialNetworks) withoutPlace.addSubnet(network, bits, 'ipv4')

/** An address in its usual form: without a zone, and IPv4 when it is mapped into IPv6. Undefined for other texts. */
export function plainAddress(text: string): { readonly text: string; readonly version: 4 | 6 } | undefined {
  const zone = text.indexOf('%')
  const address = zone === -1 ? text : text.slice(0, zone)
  const version = isIP(address)
  if (version === 4) return { text: address, version }
  if (version !== 6) return undefined
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  return mapped !== undefined && isIP(mapped) === 4
    ? { text: mapped, version: 4 }
    : { text: address, version: 6 }
}

/** Addresses that are private, local or reserved. Global unicast addresses of version 6 begin with 2 or 3. */
export function hasPlace({ text, version }: { text: string; version: 4 | 6 }): boolean {
  if (version === 4) return !withoutPlace.check(text, 'ipv4')
  return /^[23][0-9a-f]{3}:/i.test(text) && !/^2001:0?db8:/i.test(text)
}

export function addressBytes({ text, version }: { text: string; version: 4 | 6 }): Uint8Array {
  if (version === 4) return Uint8Array.from(text.split('.'), Number)
  const bytes = new Uint8Array(16)
  const [head = '', tail] = text.split('::')
  const front = groupsOf(head)
  const back = tail === undefined ? [] : groupsOf(tail)
  front.forEach((group, i) => write(bytes, i, group))
  back.forEach((group, i) => write(bytes, 8 - back.length + i, group))
  return bytes
}

function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

function write(bytes: Uint8Array, index: number, group: number): void {
  bytes[2 * index] = group >> 8
  bytes[2 * index + 1] = group & 255
}
