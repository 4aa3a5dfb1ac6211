// Whether an address is on a banned host or below one.
import { isIP } from 'node:net'
import { maxHostLength } from '../../../contract/link-domains.ts'

export type BannedHosts = ReadonlySet<string>

/** False for a text that is not a URL, such as an empty one. */
export function isBannedUrl(url: string, banned: BannedHosts): boolean {
  if (banned.size === 0 || url === '') return false
  const parsed = URL.parse(url)
  return parsed !== null && isBannedHost(parsed.hostname, banned)
}

/** `host` as in `URL.hostname`: lower case and ASCII. */
function isBannedHost(host: string, banned: BannedHosts): boolean {
  const name = host.endsWith('.') ? host.slice(0, -1) : host
  if (banned.has(name)) return true
  if (isIP(name) !== 0) return false
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
    if (banned.has(name.slice(dot + 1))) return true
  }
  return false
}

/** The form of a host in the list of bans: as in `URL.hostname`, without a port or a trailing dot. */
export function readBannedHost(input: string): string | undefined {
  const text = input.trim()
  if (text.length > 300 || /[\s/?#@\\%]/.test(text)) return undefined
  const name = URL.parse(`http://${text}`)?.hostname.replace(/\.$/, '')
  if (name === undefined || name === '' || name.length > maxHostLength) return undefined
  return name
}
