// The 18-character ID number (GB 11643): validation, and the data it contains. Pure.
import { checkDigitOf, identity } from '../../contract/identity.ts'
import { startOfDay } from '../../contract/time.ts'
import type { Text } from '../../contract/text.ts'
import { provinces } from './provinces.ts'

const numberLength = identity.operations.verify.parameters.idcard.maxLength

const earliestBirthday = '1900-01-01'

/** These follow the parameter's name in a message. None of them quotes the value. */
const problems = {
  length: { zh: `必须是 ${numberLength} 位`, en: `must have ${numberLength} characters` },
  characters: {
    zh: '前 17 位必须是数字，末位是数字或 X',
    en: 'must be 17 digits and a last digit or X',
  },
  region: { zh: '地区代码无效', en: 'has an unknown region code' },
  birthday: { zh: '出生日期无效', en: 'has an impossible birth date' },
  checkDigit: { zh: '校验位错误', en: 'has a wrong check digit' },
} as const satisfies Record<string, Text>

export type NumberResult =
  | { readonly number: string; readonly problems?: undefined }
  | { readonly problems: readonly Text[] }

/** `today` is the current day in Shanghai, the latest possible birthday. */
export function readNumber(text: string, today: string): NumberResult {
  if (text.length !== numberLength) return { problems: [problems.length] }
  if (!/^[0-9]{17}[0-9Xx]$/.test(text)) return { problems: [problems.characters] }
  const number = text.toUpperCase()
  const found: Text[] = []
  if (!provinces.has(number.slice(0, 2))) found.push(problems.region)
  const birthday = birthdayOf(number)
  if (startOfDay(birthday) === undefined || birthday < earliestBirthday || birthday > today) {
    found.push(problems.birthday)
  }
  if (number[17] !== checkDigitOf(number)) found.push(problems.checkDigit)
  return found.length > 0 ? { problems: found } : { number }
}

/** `YYYY-MM-DD`, not validated. */
export function birthdayOf(number: string): string {
  return `${number.slice(6, 10)}-${number.slice(10, 12)}-${number.slice(12, 14)}`
}

export function sexOf(number: string): '男' | '女' {
  return Number(number[16]) % 2 === 1 ? '男' : '女'
}

/** Full years. */
export function ageOf(number: string, today: string): number {
  const birthday = birthdayOf(number)
  const years = Number(today.slice(0, 4)) - Number(birthday.slice(0, 4))
  return today.slice(5) < birthday.slice(5) ? years - 1 : years
}

export function provinceOf(number: string): string | undefined {
  return provinces.get(number.slice(0, 2))
}
