// Texts in two languages. The Chinese dictionary defines the keys; a missing English key is a type error.
import type { Language, Text } from '../../contract/text.ts'
import { usePreferences } from './preferences.ts'

/** A text, or a function that fills values in. */
// oxlint-disable-next-line typescript/no-explicit-any -- each text has its own arguments
type DictionaryText = string | ((...values: any[]) => string)

type SameKeys<T> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] }

export interface Dictionary<T> {
  readonly zh: T
  readonly en: T
}

/** English only: `1 batch`, `2 batches`. */
export function counted(count: string | number, one: string, many = `${one}s`): string {
  return `${count} ${String(count) === '1' ? one : many}`
}

export function dictionary<const T extends Readonly<Record<string, DictionaryText>>>(
  zh: T,
  en: SameKeys<T>,
): Dictionary<SameKeys<T>> {
  return { zh: zh as SameKeys<T>, en }
}

export function useText<T>(texts: Dictionary<T>): T {
  return texts[usePreferences().language]
}

export function useLanguage(): Language {
  return usePreferences().language
}

/** Returns a function that picks the current language of a text from the contract or the service. */
export function usePick(): (text: Text) => string {
  const { language } = usePreferences()
  return (text) => text[language]
}
