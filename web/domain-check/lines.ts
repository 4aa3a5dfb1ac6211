// Splits pasted text into lines and marks those that are not a domain or URL. The server checks them again.

export interface PastedLine {
  /** Starts at 1. */
  readonly line: number
  readonly url: string
  readonly isValid: boolean
}

export function readLines(pasted: string): readonly PastedLine[] {
  return pasted
    .split(/\r?\n/)
    .map((text, index) => ({ line: index + 1, url: text.trim() }))
    .filter(({ url }) => url !== '')
    .map(({ line, url }) => ({ line, url, isValid: isDomainOrUrl(url) }))
}

export function isDomainOrUrl(text: string): boolean {
  if (/\s/.test(text)) return false
  try {
    const { protocol, hostname, username } = new URL(
      /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`,
    )
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
