// A place as it is stored and as it is shown.
import { provinces } from '../../contract/places.ts'
import type { Language } from '../../contract/text.ts'
import type { Place } from './regions.ts'

/** `CN-GD`, `CN`, `US`; empty when unknown. */
export function placeCode({ country, province }: Place): string {
  return province === '' ? country : `${country}-${province}`
}

/** The name of a stored place: a province of China, or a country. */
export function placeName(code: string, language: Language): string {
  const [country = '', province = ''] = code.split('-')
  const known = country === 'CN' ? provinces[province] : undefined
  if (known) return known[language]
  if (!/^[A-Z]{2}$/.test(country)) return ''
  return new Intl.DisplayNames(language, { type: 'region', fallback: 'none' }).of(country) ?? ''
}
