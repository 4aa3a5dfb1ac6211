// What a short code looks like: seven characters that are hard to misread and form no reserved or offensive word.
/** Without 0 and O, 1, l and I. */
export const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

export const codeLength = 7

const wordsOf = (text: string): string[] => text.trim().split(/\s+/)

/** First path segments that the service uses or may use later. A code is never one of them, in upper or lower case. */
const reserved = new Set(
  wordsOf(`
  account accounts admin api apis app apps asset assets auth b billing captcha console contact docs
  domains favicon health healthz help index invoice legal livez login logout metrics openapi payment
  pricing privacy profile readyz receipt receipts report robots sandbox search security service session
  settings share shares signin signout signup sitemap static status support swagger system terms tls-ask tracker upgrade
  verify version webhook website
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
const letterOf: Readonly<Record<string, string>> = { 3: 'e', 4: 'a', 5: 's', 6: 'g', 7: 't', 8: 'b', 9: 'g' }

export function isOffensive(code: string): boolean {
  let plain = ''
  for (const character of code.toLowerCase()) plain += letterOf[character] ?? character
  return offensivePattern.test(plain)
}

/** All letters and digits: a mistyped code gets the page for unknown codes. */
const isCodeCharacter = new Uint8Array(128)
for (const character of '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') {
  isCodeCharacter[character.charCodeAt(0)] = 1
}

/** Whether the text has seven letters or digits from `start` on. */
export function looksLikeCode(text: string, start: number): boolean {
  for (let index = start; index < start + codeLength; index += 1) {
    const unit = text.charCodeAt(index)
    if (!(unit < 128) || isCodeCharacter[unit] === 0) return false
  }
  return true
}
