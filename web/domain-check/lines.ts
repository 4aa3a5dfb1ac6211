// Splits pasted text into lines and marks those that are not a domain or URL. The server checks them again.

export interface PastedLine {
  /** Starts at 1. */
  readonly line: number
  readonly url: string
  readonly isValid: boolean
  /** The same address is on an earlier line. */
  readonly isRepeated: boolean
}

export function readLines(pasted: string): readonly PastedLine[] {
  const seen = new Set<string>()
  return pasted
    .split(/\r?\n/)
    .map((text, index) => ({ line: index + 1, url: text.trim() }))
    .filter(({ url }) => url !== '')
    .map(({ line, url }) => {
      const isValid = isDomainOrUrl(url)
      const address = isValid ? addressOf(url) : url
      const isRepeated = seen.has(address)
      seen.add(address)
      return { line, url, isValid, isRepeated }
    })
}

/** Two spellings of one address are the same: case of the host, a missing scheme, a trailing slash. */
function addressOf(text: string): string {
  return withScheme(text).href
}

function withScheme(text: string): URL {
  return new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
}

export function isDomainOrUrl(text: string): boolean {
  if (/\s/.test(text)) return false
  try {
    const { protocol, hostname, username } = withScheme(text)
    return (
      /^https?:$/.test(protocol) &&
      username === '' &&
      /^[^.]+(\.[^.]+)+$/.test(hostname) &&
      !/^[\d.]+$/.test(hostname)
    )
  } catch {
    return false
  }
}
