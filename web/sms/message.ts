// What a message will be, while it is typed: variables, filled text, length, billed parts. The service counts the same way.

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]{0,31})\}/g

export const longestMessage = 500
const single = 70
const each = 67

/** In the order of their first appearance. */
export function variablesOf(content: string): readonly string[] {
  return [...new Set(Array.from(content.matchAll(variable), (match) => match[1]!))]
}

export interface Piece {
  readonly text: string
  /** The variable's name when the piece stands for one. */
  readonly variable?: string
}

/** The text in pieces, so that a preview can mark what was filled in. An empty value shows the variable itself. */
export function piecesOf(content: string, values: Readonly<Record<string, string>>): readonly Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (const match of content.matchAll(variable)) {
    if (match.index > at) pieces.push({ text: content.slice(at, match.index) })
    const name = match[1]!
    pieces.push({ text: values[name] || match[0], variable: name })
    at = match.index + match[0].length
  }
  if (at < content.length) pieces.push({ text: content.slice(at) })
  return pieces
}

/** Signature in its brackets and the text, in UTF-16 units. */
export function lengthOf(sign: string, pieces: readonly Piece[]): number {
  return sign.length + 2 + pieces.reduce((sum, { text }) => sum + text.length, 0)
}

export function partsOf(length: number): number {
  return length <= single ? 1 : Math.ceil(length / each)
}

/** `64/70 · 1`: how far it goes at the present number of parts. */
export function roomOf(length: number): number {
  return length <= single ? single : partsOf(length) * each
}
