// Dictionaries: Chinese says which words there are, English must have the same ones or the build fails.
import type { Language, Text } from '../../contract/text.ts'
import { usePreferences } from './preferences.ts'

/** A word is a text, or a function where something is filled in. */
// oxlint-disable-next-line typescript/no-explicit-any -- the arguments of a word are the word's own business
type Word = string | ((...filled: any[]) => string)

type SameWords<T> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] }

export interface Dictionary<T> {
  readonly zh: T
  readonly en: T
}

export function dictionary<const T extends Readonly<Record<string, Word>>>(
  zh: T,
  en: SameWords<T>,
): Dictionary<SameWords<T>> {
  return { zh: zh as SameWords<T>, en }
}

export function useText<T>(texts: Dictionary<T>): T {
  return texts[usePreferences().language]
}

export function useLanguage(): Language {
  return usePreferences().language
}

/** Picks the present language out of the texts that come from the contract and the server. */
export function usePick(): (text: Text) => string {
  const { language } = usePreferences()
  return (text) => text[language]
}
