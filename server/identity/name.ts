// The name as it stands on an ID card: which characters, how many, and look-alikes folded to the one that is meant. Pure.
import { identity } from '../../contract/identity.ts'
import type { Text } from '../../contract/text.ts'

const { minLength, maxLength } = identity.operations.verify.parameters.name

/** Longer than any name that could still be folded to 50 characters. Checked first, so that nothing long is worked on. */
const mostUnits = 400

/** Input methods offer all of these for the `·` between the parts of a name; the register knows U+00B7 only. */
const middleDots = /[\u2022\u2027\u2219\u22C5\u2E31\u30FB\uFF65]/g

/** The no-break and the ideographic space are spaces to everyone who types them. */
const spaces = /[ \u00A0\u3000]+/g

const allowed = /^[\p{Script=Han}A-Za-z·\- ]+$/u
const edges = /^[\p{Script=Han}A-Za-z].*[\p{Script=Han}A-Za-z]$/u

/** What follows the parameter's name in a message. None of them repeats the name. */
const problems = {
  length: {
    zh: `必须是 ${minLength} 至 ${maxLength} 个字符`,
    en: `must have ${minLength} to ${maxLength} characters`,
  },
  characters: {
    zh: '只能包含汉字、英文字母、空格、连字符和间隔号',
    en: 'may hold Chinese characters, English letters, spaces, hyphens and middle dots only',
  },
  edges: {
    zh: '首尾必须是汉字或英文字母',
    en: 'must begin and end with a Chinese character or an English letter',
  },
} as const satisfies Record<string, Text>

export type ReadName =
  | { readonly name: string; readonly problems?: undefined }
  | { readonly problems: readonly Text[] }

export function readName(text: string): ReadName {
  if (text.length > mostUnits) return { problems: [problems.length] }
  const name = text.normalize('NFC').replace(middleDots, '·').replace(spaces, ' ').trim()
  const found: Text[] = []
  // Rare Han lie beyond the BMP and are two units each: people count characters.
  const length = [...name].length
  if (length < minLength || length > maxLength) found.push(problems.length)
  if (!allowed.test(name)) found.push(problems.characters)
  else if (length >= minLength && !edges.test(name)) found.push(problems.edges)
  return found.length > 0 ? { problems: found } : { name }
}
