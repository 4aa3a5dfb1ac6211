// Validates addresses, and creates random subdomains. Nothing is resolved or contacted.
import { randomText } from '../random.ts'
import type { CheckItem } from '../../contract/domain-check.ts'
import type { Address } from './port.ts'

/** No gateway accepts longer ones. */
const maxUrlLength = 2_048

const maxHostLength = 253

/** Domains that are never public. `test` is allowed, because the sandbox uses it. */
const privateDomains = ['localhost', 'local', 'internal', 'home.arpa', 'onion']

const anyScheme = /^[a-z][a-z0-9+.-]*:\/\//i
const webScheme = /^https?:\/\//i
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Undefined is 无效URL. Without a scheme the address is http. */
export function readAddress(text: string): Address | undefined {
  const trimmed = text.trim()
  // The URL parser would silently remove tabs and line breaks.
  if (trimmed.length > maxUrlLength || /\p{Cc}/u.test(trimmed)) return undefined
  if (anyScheme.test(trimmed) && !webScheme.test(trimmed)) return undefined
  const scheme = schemeOf(trimmed)
  const [authority = ''] = trimmed.slice(scheme.length).split(/[/\\?#]/, 1)
  // User information is a password, or imitates a host name.
  if (authority === '' || authority.includes('@')) return undefined
  const url = URL.parse(scheme === '' ? `http://${trimmed}` : trimmed)
  if (url === null || !isPublicHost(url.hostname)) return undefined
  url.hash = ''
  return url.href.length > maxUrlLength ? undefined : { url: url.href, host: url.hostname }
}

/** Rejects IPv4 addresses (the URL parser normalizes all notations), IPv6 addresses, and invalid names such as `a_b`. */
function isPublicHost(host: string): boolean {
  if (host.length > maxHostLength) return false
  const labels = host.split('.')
  if (labels.length < 2 || !labels.every((one) => label.test(one))) return false
  if (/^\d+$/.test(labels.at(-1) ?? '')) return false
  return !privateDomains.some((domain) => host.endsWith(`.${domain}`))
}

/** Adds a label before the host; scheme, port and path stay as submitted. */
export function addLabel(text: string, prefix: string): string {
  const trimmed = text.trim()
  // Also of an address that is not valid.
  const scheme = anyScheme.exec(trimmed)?.[0] ?? ''
  return `${scheme}${prefix}.${trimmed.slice(scheme.length)}`
}

const letters = 'abcdefghijklmnopqrstuvwxyz'
const lettersAndDigits = `${letters}0123456789`

/** Eight characters, starting with a letter. */
export function randomLabel(): string {
  return randomText(letters, 1) + randomText(lettersAndDigits, 7)
}

function schemeOf(trimmed: string): string {
  return webScheme.exec(trimmed)?.[0] ?? ''
}

export interface CheckItems {
  readonly items: readonly CheckItem[]
  /** One for each item; undefined for 无效URL. */
  readonly addresses: readonly (Address | undefined)[]
}

/** Every submitted address, then optionally a random subdomain of each. */
export function createItems(urls: readonly string[], checkRandom: boolean): CheckItems {
  const originals = urls.map((url): CheckItem => ({ url, type: 'original' }))
  const addresses = urls.map(readAddress)
  if (!checkRandom) return { items: originals, addresses }
  const randoms = urls.map((url): CheckItem => ({ url: addLabel(url, randomLabel()), type: 'random' }))
  return {
    items: [...originals, ...randoms],
    // An invalid address stays invalid, even if the label would make it valid (`com`).
    addresses: [...addresses, ...randoms.map(({ url }, index) => addresses[index] && readAddress(url))],
  }
}
