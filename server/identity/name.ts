// Validates a name as on an ID card, and replaces look-alike characters. Pure.
import { identity, middleDots, nameSpaces } from '../../contract/identity.ts'
import type { Text } from '../../contract/text.ts'

const { minLength, maxLength } = identity.operations.verify.parameters.name

/** Longer than any input that normalizes to a valid name. Checked first, to limit the work. */
const maxInputLength = 400

const dots = new RegExp(`[${middleDots}]`, 'g')
const spaces = new RegExp(`[${nameSpaces}]+`, 'g')

const allowed = /^[\p{Script=Han}A-Za-z·\- ]+$/u
const edges = /^[\p{Script=Han}A-Za-z].*[\p{Script=Han}A-Za-z]$/u

/** These follow the parameter's name in a message. None of them quotes the value. */
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

export type NameResult =
  | { readonly name: string; readonly problems?: undefined }
  | { readonly problems: readonly Text[] }

export function readName(text: string): NameResult {
  if (text.length > maxInputLength) return { problems: [problems.length] }
  const name = text.normalize('NFC').replace(dots, '·').replace(spaces, ' ').trim()
  const found: Text[] = []
  // Rare Han characters are outside the BMP and have two UTF-16 units.
  const length = [...name].length
  if (length < minLength || length > maxLength) found.push(problems.length)
  if (!allowed.test(name)) found.push(problems.characters)
  else if (length >= minLength && !edges.test(name)) found.push(problems.edges)
  return found.length > 0 ? { problems: found } : { name }
}
