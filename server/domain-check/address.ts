// Which texts are addresses of a public name, and what a random subdomain of one looks like. Nothing is resolved or contacted.
import { randomInt } from 'node:crypto'
import type { Address } from './port.ts'

/** As long as the target of a short link. What is longer opens nowhere, and no gateway takes it. */
const longestUrl = 2_048

const longestName = 253

/** Names that are never public, whatever stands before them. `test` and `example` stay: the sandbox uses the first. */
const privateEndings = ['localhost', 'local', 'internal', 'home.arpa', 'onion']

const anyScheme = /^[a-z][a-z0-9+.-]*:\/\//i
const webScheme = /^https?:\/\//i
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Undefined is 无效URL. A bare domain is read as http. */
export function readAddress(text: string): Address | undefined {
  const trimmed = text.trim()
  // The URL parser drops tabs and line breaks from the middle of an address; a name with one in it is a mistake, or worse.
  if (trimmed.length > longestUrl || /\p{Cc}/u.test(trimmed)) return undefined
  if (anyScheme.test(trimmed) && !webScheme.test(trimmed)) return undefined
  const scheme = schemeOf(trimmed)
  const [authority = ''] = trimmed.slice(scheme.length).split(/[/\\?#]/, 1)
  // A user part is a password about to be shown to others, or a name that pretends to be the host.
  if (authority === '' || authority.includes('@')) return undefined
  const url = URL.parse(scheme === '' ? `http://${trimmed}` : trimmed)
  if (url === null || !isPublicName(url.hostname)) return undefined
  url.hash = ''
  return url.href.length > longestUrl ? undefined : { url: url.href, host: url.hostname }
}

/**
 * The parser has turned every way of writing an IPv4 address into four numbers, and IPv6 stands in brackets: both fail
 * here, as does whatever it lets through that no name server would (`a_b`, `a..b`, one label).
 */
function isPublicName(host: string): boolean {
  if (host.length > longestName) return false
  const labels = host.split('.')
  if (labels.length < 2 || !labels.every((one) => label.test(one))) return false
  if (/^\d+$/.test(labels.at(-1) ?? '')) return false
  return !privateEndings.some((ending) => host.endsWith(`.${ending}`))
}

/** The text with a label in front of its host; scheme, port and path stay as they were written. */
export function withLabel(text: string, randomLabel: string): string {
  const trimmed = text.trim()
  const scheme = schemeOf(trimmed)
  return `${scheme}${randomLabel}.${trimmed.slice(scheme.length)}`
}

const letters = 'abcdefghijklmnopqrstuvwxyz'
const lettersAndDigits = `${letters}0123456789`

/** Eight characters, a letter first. */
export function makeLabel(): string {
  let made = letters.charAt(randomInt(letters.length))
  while (made.length < 8) made += lettersAndDigits.charAt(randomInt(lettersAndDigits.length))
  return made
}

function schemeOf(trimmed: string): string {
  return webScheme.exec(trimmed)?.[0] ?? ''
}
