// `extra` of a match: what the upstream gave in one shape, and what follows from the number itself. Pure.
import { type Extra, extraKeys } from '../../contract/identity.ts'
import { startOfDay } from '../../contract/time.ts'
import { ageOf, birthdayOf, provinceOf, sexOf } from './number.ts'
import type { Facts } from './port.ts'

const sexWords: ReadonlyMap<string, string> = new Map([
  ['男', '男'],
  ['女', '女'],
  ['M', '男'],
  ['F', '女'],
  ['1', '男'],
  ['2', '女'],
])

/** Longer texts are no address; whatever they are, they are not passed on. */
const longestText = 200

const readers: { readonly [K in keyof Extra]-?: (value: unknown) => Extra[K] } = {
  sex: (value) => sexWords.get(String(readText(value)).toUpperCase()),
  birthday: readDay,
  address: readText,
  age: readAge,
  nation: readText,
  province: readText,
  city: readText,
  district: readText,
}

/** `today` is a day in Shanghai. */
export function extraOf(facts: Facts, number: string, today: string): Extra {
  const given = readFacts(facts)
  const province = given.province ?? provinceOf(number)
  return {
    ...given,
    sex: given.sex ?? sexOf(number),
    birthday: given.birthday ?? birthdayOf(number),
    age: given.age ?? ageOf(number, today),
    ...(province === undefined ? {} : { province }),
  }
}

function readFacts(facts: Facts): Extra {
  const extra: Record<string, unknown> = {}
  for (const key of extraKeys) {
    const value = readers[key](facts[key])
    if (value !== undefined) extra[key] = value
  }
  return extra
}

function readText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return text === '' || text.length > longestText ? undefined : text
}

/** 19900228, 1990-02-28, 1990/2/28, 1990.02.28, 1990年2月28日, each with or without a time after it. */
function readDay(value: unknown): string | undefined {
  const text = readText(value)
  if (text === undefined) return undefined
  const parts =
    /^(\d{4})(\d{2})(\d{2})$/.exec(text) ??
    /^(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?:[ T][\d:.]*)?$/.exec(text)
  if (!parts) return undefined
  const [, year = '', month = '', day = ''] = parts
  const read = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return startOfDay(read) === undefined ? undefined : read
}

function readAge(value: unknown): number | undefined {
  const text = readText(value)
  return text !== undefined && /^\d{1,3}$/.test(text) && Number(text) <= 150 ? Number(text) : undefined
}
