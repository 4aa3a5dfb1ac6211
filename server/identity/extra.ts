// `extra` of a match: the details from the gateway in one format, completed from the ID number. Pure.
import { type Extra, extraKeys } from '../../contract/identity.ts'
import { startOfDay } from '../../contract/time.ts'
import { ageOf, birthdayOf, provinceOf, sexOf } from './number.ts'
import type { PersonDetails } from './port.ts'

const sexes: ReadonlyMap<string, string> = new Map([
  ['男', '男'],
  ['女', '女'],
  ['M', '男'],
  ['F', '女'],
  ['1', '男'],
  ['2', '女'],
])

/** Longer texts are not returned. */
const maxTextLength = 200

const readers: { readonly [K in keyof Extra]-?: (value: unknown) => Extra[K] } = {
  sex: (value) => sexes.get(String(readText(value)).toUpperCase()),
  birthday: readDay,
  address: readText,
  age: readAge,
  nation: readText,
  province: readText,
  city: readText,
  district: readText,
}

/** `today` is the current day in Shanghai. */
export function buildExtra(details: PersonDetails, number: string, today: string): Extra {
  const given = readDetails(details)
  const province = given.province ?? provinceOf(number)
  return {
    ...given,
    sex: given.sex ?? sexOf(number),
    birthday: given.birthday ?? birthdayOf(number),
    age: given.age ?? ageOf(number, today),
    ...(province === undefined ? {} : { province }),
  }
}

function readDetails(details: PersonDetails): Extra {
  const extra: Record<string, unknown> = {}
  for (const key of extraKeys) {
    const value = readers[key](details[key])
    if (value !== undefined) extra[key] = value
  }
  return extra
}

function readText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return text === '' || text.length > maxTextLength ? undefined : text
}

/** 19900228, 1990-02-28, 1990/2/28, 1990.02.28 or 1990年2月28日, with or without a time. */
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
