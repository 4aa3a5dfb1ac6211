// Who is calling: the address of the socket, or behind trusted proxies the rightmost hop that is none of them.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

export type AddressOf = (request: IncomingMessage) => string

/** Whether a proxy spoke for somebody else, and whether it is believed. `doctor` asks. */
export type ProxyState = 'none' | 'trusted' | 'ignored'

export function createProxyStateReader(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => ProxyState {
  const isTrusted = trustReader(trustedProxies)
  return (request) => {
    if (request.headers['x-forwarded-for'] === undefined) return 'none'
    return isTrusted(plain(request.socket.remoteAddress ?? '')) ? 'trusted' : 'ignored'
  }
}

function trustReader(trustedProxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList()
  for (const item of trustedProxies) {
    const [address, bits] = item.split('/') as [string, string | undefined]
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(bits), family)
  }
  return (address) => {
    const family = isIP(address)
    return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
}

export function createAddressReader(trustedProxies: readonly string[]): AddressOf {
  const isTrusted = trustReader(trustedProxies)

  return (request) => {
    const peer = plain(request.socket.remoteAddress ?? '')
    const forwarded = request.headers['x-forwarded-for']
    if (trustedProxies.length === 0 || forwarded === undefined || !isTrusted(peer)) return peer
    const hops = (Array.isArray(forwarded) ? forwarded.join(',') : forwarded)
      .split(',')
      .map((hop) => plain(hop.trim()))
    for (const hop of hops.toReversed()) {
      // Something that is no address was put there by the caller: the proxy itself is all we know.
      if (isIP(hop) === 0) return peer
      if (!isTrusted(hop)) return hop
    }
    return hops[0] ?? peer
  }
}

/** An IPv4 address in its IPv6 clothes is the same caller. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
}

/**
 * Whom a limit counts. Whoever has one IPv6 address has the whole /64 around it, 2^64 of them, and would otherwise never
 * meet a limit.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const [head, tail] = address.toLowerCase().split('::') as [string, string | undefined]
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  // An IPv4 address in the last place stands for two groups.
  const groups = front.length + back.length + (address.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups }, () => '0')
  const first = [...front, ...zeros, ...back].slice(0, 4)
  return `${first.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
