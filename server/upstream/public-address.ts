// Connects only to public addresses: a URL given by a customer must not reach our own network.
//
// The addresses are checked when the connection is made, and the connection uses exactly the checked ones. A name that
// resolves differently a moment later therefore gains nothing.
import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import buildConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import { specialNetworks } from '../http/special-networks.ts'

/** Error code when a host is, or resolves to, an address that is not public. */
export const privateAddressCode = 'PRIVATE_ADDRESS'

const special = new BlockList()
for (const [network, bits] of specialNetworks) special.addSubnet(network, bits, 'ipv4')
/** Only global unicast (2000::/3) is public, without the ranges in it that embed or hide other addresses. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special.addSubnet(network, bits, 'ipv6')

export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  if (family !== 6) return false
  const [plain = ''] = address.split('%')
  return globalUnicast.check(plain, 'ipv6') && !special.check(plain, 'ipv6')
}

/** Always this machine, whatever a DNS server says. */
const isLocalhost = (hostname: string) => /^(.+\.)?localhost\.?$/i.test(hostname)

/** The second try waits twice as long; then the connection has half a second left. */
const lookupTimeout = { timeout: 1_500, tries: 2 }

/**
 * Resolves names, and fails if any address of a name is not public. It asks the DNS servers itself: the look-up of the system occupies
 * one of two threads until the servers of the name have answered, and every gateway would wait for those of a customer.
 */
function createPublicLookup(dnsServers: readonly string[]): LookupFunction {
  const running = new Map<string, Promise<LookupAddress[]>>()

  async function resolve(hostname: string): Promise<LookupAddress[]> {
    if (isLocalhost(hostname)) throw privateAddress()
    const resolver = new Resolver(lookupTimeout)
    if (dnsServers.length > 0) resolver.setServers(dnsServers)
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason as Error
    const listed = [four, six].flatMap((result, index) =>
      result.status === 'rejected'
        ? []
        : result.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
    )
    if (listed.length === 0 || !listed.every(({ address }) => isPublicAddress(address)))
      throw privateAddress()
    return listed
  }

  /** Connections that are made at the same time share a look-up. */
  function resolveOnce(hostname: string): Promise<LookupAddress[]> {
    const known = running.get(hostname)
    if (known) return known
    const started = resolve(hostname).finally(() => running.delete(hostname))
    running.set(hostname, started)
    return started
  }

  const lookup = callbackify(resolveOnce)
  return (hostname, options, callback) =>
    lookup(hostname, (error, addresses) => {
      if (error) return callback(error, [])
      if (options.all === true) return callback(null, addresses)
      const [first] = addresses
      return callback(null, first!.address, first!.family)
    })
}

/** An agent like the one of `httpCall`: no redirects, no retries, no pipelining, no proxy of the environment. */
export function createPublicAgent(allowPrivate: boolean, dnsServers: readonly string[] = []): Agent {
  const connect = buildConnector({
    timeout: 5_000,
    ...(!allowPrivate && { lookup: createPublicLookup(dnsServers) }),
  })
  return new Agent({
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 15_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, callback) {
      // Node does not look up a host that is an address already.
      const host = options.hostname.replace(/^\[|\]$/g, '')
      if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) callback(privateAddress(), null)
      else connect(options, callback)
    },
  })
}

function privateAddress(): NodeJS.ErrnoException {
  return Object.assign(new Error('the address is not public'), { code: privateAddressCode })
}
