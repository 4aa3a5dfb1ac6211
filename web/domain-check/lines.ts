// What was pasted, line by line: what will be asked, and which lines look wrong. The service has the last word.

export const mostUrls = 500

export interface PastedLine {
  /** As an editor counts, from 1. */
  readonly line: number
  readonly url: string
  readonly looksRight: boolean
}

export function readLines(pasted: string): readonly PastedLine[] {
  return pasted
    .split(/\r?\n/)
    .map((text, index) => ({ line: index + 1, url: text.trim() }))
    .filter(({ url }) => url !== '')
    .map(({ line, url }) => ({ line, url, looksRight: looksLikeAddress(url) }))
}

export function looksLikeAddress(text: string): boolean {
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
