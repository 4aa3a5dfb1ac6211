// The address of a caller: that of the socket, or behind trusted proxies the rightmost untrusted hop.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

export type AddressOf = (request: IncomingMessage) => string

/** Whether X-Forwarded-For is present, and whether its proxy is trusted. Shown by `doctor`. */
export type ProxyState = 'none' | 'trusted' | 'ignored'

export function createProxyStateReader(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => ProxyState {
  const isTrusted = createAddressCheck(trustedProxies)
  return (request) => {
    if (request.headers['x-forwarded-for'] === undefined) return 'none'
    return isTrusted(peerOf(request)) ? 'trusted' : 'ignored'
  }
}

/** Whether an address is one of the list or in one of its CIDR ranges. */
export function createAddressCheck(list: readonly string[]): (address: string) => boolean {
  const listed = new BlockList()
  for (const item of list) {
    const [address, bits] = item.split('/') as [string, string | undefined]
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) listed.addAddress(address, family)
    else listed.addSubnet(address, Number(bits), family)
  }
  return (address) => {
    const family = isIP(address)
    return family !== 0 && listed.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** Whether a text is an IPv4 or IPv6 address, or a CIDR range of them. */
export function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  // An interface (`fe80::1%eth0`) means nothing to another machine.
  if (family === 0 || rest.length > 0 || address.includes('%')) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

export function createAddressReader(trustedProxies: readonly string[]): AddressOf {
  const isTrusted = createAddressCheck(trustedProxies)

  return (request) => {
    const peer = peerOf(request)
    const forwarded = request.headers['x-forwarded-for']
    if (trustedProxies.length === 0 || forwarded === undefined || !isTrusted(peer)) return peer
    const hops = (Array.isArray(forwarded) ? forwarded.join(',') : forwarded)
      .split(',')
      .map((hop) => withoutIpv6Prefix(hop.trim()))
    for (const hop of hops.toReversed()) {
      // The caller wrote something that is not an address: only the proxy is certain.
      if (isIP(hop) === 0) return peer
      if (!isTrusted(hop)) return hop
    }
    return hops[0] ?? peer
  }
}

/** The other end of the connection. */
export function peerOf(request: IncomingMessage): string {
  return withoutIpv6Prefix(request.socket.remoteAddress ?? '')
}

/** An IPv4-mapped address is the same caller as the IPv4 address. */
function withoutIpv6Prefix(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
}

/** The network that limits count: a caller with one IPv6 address owns the whole /64 and could evade them. */
export function networkOf(address: string): string {
  return isIP(address) === 6 ? prefixOf(address, 4) : address
}

/** The /48 network of an IPv6 address: what a provider assigns to one site, 65,536 networks that one caller can use. */
export function siteOf(address: string): string {
  return isIP(address) === 6 ? prefixOf(address, 3) : address
}

/** The first groups of an IPv6 address in any notation. */
function prefixOf(address: string, length: number): string {
  const [head, tail] = address.toLowerCase().split('::') as [string, string | undefined]
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  // A trailing IPv4 address takes the space of two groups.
  const groups = front.length + back.length + (address.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups }, () => '0')
  const first = [...front, ...zeros, ...back].slice(0, length)
  return `${first.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/${length * 16}`
}
