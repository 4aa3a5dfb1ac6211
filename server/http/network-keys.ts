// The keys of a limit that counts callers by their network.
import { networkOf, siteOf } from './address.ts'

export interface NetworkLimit {
  readonly perNetwork: number
  /** Of an IPv6 /48, whose owner has 65,536 networks. An IPv4 address has no such limit. */
  readonly perSite: number
}

interface NetworkKey {
  readonly key: string
  readonly max: number
}

/** The keys begin with `name`. */
export function networkKeys(
  address: string,
  { perNetwork, perSite }: NetworkLimit,
  name = '',
): [NetworkKey, ...NetworkKey[]] {
  const [network, site] = [networkOf(address), siteOf(address)]
  const keys: [NetworkKey, ...NetworkKey[]] = [{ key: name + network, max: perNetwork }]
  if (site !== network) keys.push({ key: name + site, max: perSite })
  return keys
}
