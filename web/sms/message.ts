// Splits a template into text and variables for the live preview.
import { variablePattern, wholeText } from '../../contract/sms-text.ts'

const variable = new RegExp(`\\$\\{(${variablePattern})\\}`, 'g')

/** In the order of their first appearance. Invalid variables are ignored while the user types. */
export function findVariables(content: string): readonly string[] {
  return [...new Set(Array.from(content.matchAll(variable), (match) => match[1]!))]
}

export interface Piece {
  readonly text: string
  /** The name of the variable that the text replaces. */
  readonly variable?: string
}

/** A variable without a value stays as it is in the template. */
export function splitTemplate(content: string, values: Readonly<Record<string, string>>): readonly Piece[] {
  const pieces: Piece[] = []
  let position = 0
  for (const match of content.matchAll(variable)) {
    if (match.index > position) pieces.push({ text: content.slice(position, match.index) })
    const name = match[1]!
    pieces.push({ text: values[name] || match[0], variable: name })
    position = match.index + match[0].length
  }
  if (position < content.length) pieces.push({ text: content.slice(position) })
  return pieces
}

export function messageLength(signName: string, pieces: readonly Piece[]): number {
  return wholeText(signName, pieces.map(({ text }) => text).join('')).length
}
