// What a short code looks like. Generated ones have seven characters that are hard to misread and form no reserved or offensive word.
import { linkLimits } from '../../../contract/shortlink.ts'

/** Without 0 and O, 1, l and I. */
export const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

export const codeLength = 7

const wordsOf = (text: string): string[] => text.trim().split(/\s+/)

/** First path segments that the service uses or may use later. A code is never one of them, in upper or lower case. */
const reserved = new Set(
  wordsOf(`
  account accounts admin alerts api apis app apps asset assets auth b billing captcha cashier console contact docs
  domains favicon health healthz help index invoice legal livez llms login logout mcp metrics oidc openapi
  openapi-operator order orders pay payment payments pricing privacy profile readyz receipt receipts report reports
  robots sandbox search security service session settings share shares signin signout signup sitemap static statement statements
  status support swagger system terms tls-ask tracker unsubscribe upgrade verify version webhook webhooks website
  well-known
`),
)

export function isReserved(code: string): boolean {
  return reserved.has(code.toLowerCase())
}

/** Paths are case-sensitive, so this is too. */
export function isReservedPath(segment: string): boolean {
  return reserved.has(segment)
}

/** English and pinyin. */
const offensive = wordsOf(`
  anal anus arse bastard bitch boob cock coon crap cum cunt damn dick dyke fag fuck fuk heroin hitler
  homo isis jizz kike kkk nazi negro nigg paki pedo penis piss poop porn pussy rape retard sex shit
  slut spic suck terror tits twat vagina wank whore xxx biaozi caoni caobi cnm dabian diaosi dubo erbi
  fenqing gaichao goubi hundan jianhuo jianren jiba luoli maiyin nmsl naocan pigu qusi rinima sabi
  seqing shabi tamade tmd wangba wocao yinhu zhapian
`)

const offensivePattern = new RegExp(offensive.join('|'))

/** Digits that are read as letters. */
const letterOf: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  6: 'g',
  7: 't',
  8: 'b',
  9: 'g',
}

function readAsLetters(code: string): string {
  let plain = ''
  for (const character of code.toLowerCase()) plain += letterOf[character] ?? character
  return plain
}

/** For generated codes: an offensive word counts even inside of another word. */
export function isOffensive(code: string): boolean {
  return offensivePattern.test(readAsLetters(code))
}

/** Words that no usual word contains; the others are parts of words such as `document`, `analytics` and `shitang`. */
const neverInside = wordsOf(`
  bitch cunt fuck hitler jizz nazi nigg penis porn pussy shit(?![aiou]) vagina whore biaozi caonima caobi maiyin nmsl
  rinima seqing shabi tamade wocao
`)
const neverInsidePattern = new RegExp(neverInside.join('|'))
const offensiveWords = new Set(offensive)

/** For chosen codes: some words anywhere, also with separators between the letters, the others as a word of their own. */
export function isOffensiveChoice(code: string): boolean {
  const plain = readAsLetters(code)
  const together = plain.replaceAll(/[_-]/g, '')
  if (neverInsidePattern.test(together) || offensiveWords.has(together)) return true
  return [...plain.split(/[_-]/), ...code.toLowerCase().split(/[^a-z]+/)].some((word) =>
    offensiveWords.has(word),
  )
}

/** Letters and digits are 1, which a code may start and end with; `_` and `-` are 2. */
const characterKind = new Uint8Array(128)
for (const character of '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') {
  characterKind[character.charCodeAt(0)] = 1
}
for (const character of '_-') characterKind[character.charCodeAt(0)] = 2

const { min: minCodeLength, max: maxCodeLength } = linkLimits.codeLength

/** Where the code that starts at `start` ends, at a `?` or the end of the text; -1 when there is none. */
export function findCodeEnd(text: string, start: number): number {
  let end = start
  let kind = 0
  for (; end < text.length; end += 1) {
    const unit = text.charCodeAt(end)
    if (unit === 0x3f) break
    kind = unit < 128 ? characterKind[unit]! : 0
    if (kind === 0 || end - start >= maxCodeLength || (kind === 2 && end === start)) return -1
  }
  return end - start >= minCodeLength && kind === 1 ? end : -1
}
