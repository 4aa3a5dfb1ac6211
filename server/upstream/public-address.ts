// Connects only to public addresses: a URL given by a customer must not reach our own network.
//
// The addresses are checked when the connection is made, and the connection uses exactly the checked ones. A name that
// resolves differently a moment later therefore gains nothing.
import { lookup as resolveName, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
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

/** Resolves a name and fails if any of its addresses is not public. */
const lookupPublic: LookupFunction = (hostname, options, callback) => {
  resolveName(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) return callback(error, [])
    if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(privateAddress(), [])
    if (options.all === true) return callback(null, addresses)
    const [first] = addresses
    return callback(null, first!.address, first!.family)
  })
}

/** An agent like the one of `httpCall`: no redirects, no retries, no pipelining, no proxy of the environment. */
export function createPublicAgent(allowPrivate: boolean): Agent {
  const connect = buildConnector({ timeout: 5_000, ...(!allowPrivate && { lookup: lookupPublic }) })
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
