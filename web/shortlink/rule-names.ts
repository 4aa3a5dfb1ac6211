// The names of rule conditions and of their values, and a rule as one sentence.
import { countryNames, languageNames, provinces } from '../../contract/places.ts'
import { type RuleCondition, ruleConditions } from '../../contract/link-rules.ts'
import type { Language, Text } from '../../contract/text.ts'
import { browserNames, deviceNames, osNames } from '../../contract/visitor-names.ts'
import type { RuleValues } from './link-form.ts'

export const conditionTexts: Readonly<Record<RuleCondition, Text>> = {
  os: { zh: '系统', en: 'System' },
  device: { zh: '设备', en: 'Device' },
  app: { zh: '打开方式', en: 'App' },
  country: { zh: '国家或地区', en: 'Country or region' },
  province: { zh: '省份', en: 'Province' },
  language: { zh: '语言', en: 'Language' },
}

const fixedNames = { ...osNames, ...deviceNames, ...browserNames }

const cache = new Map<string, ReadonlyMap<string, string>>()

/** All values of a condition with their names. */
export function valueNames(condition: RuleCondition, language: Language): ReadonlyMap<string, string> {
  const key = `${condition} ${language}`
  let names = cache.get(key)
  if (!names) cache.set(key, (names = loadNames(condition, language)))
  return names
}

function loadNames(condition: RuleCondition, language: Language): ReadonlyMap<string, string> {
  if (condition === 'country') return countryNames(language)
  if (condition === 'language') return languageNames(language)
  if (condition === 'province')
    return new Map(Object.entries(provinces).map(([code, name]) => [code, name[language]]))
  return new Map(ruleConditions[condition].values.map((value) => [value, fixedNames[value]![language]]))
}

/** `系统为 iOS 或 macOS，且国家或地区为中国、美国或日本`; empty without a condition. */
export function describeConditions(
  { conditions }: Pick<RuleValues, 'conditions'>,
  language: Language,
): string {
  const parts = conditions.flatMap(({ name, values }) => {
    if (values.length === 0) return []
    const names = valueNames(name, language)
    const shown = values.map((value) => names.get(value) ?? value)
    return language === 'zh'
      ? [spaced(`${conditionTexts[name].zh}为${listOf(shown)}`)]
      : [`${conditionTexts[name].en.toLowerCase()} is ${shown.join(' or ')}`]
  })
  return parts.join(language === 'zh' ? '，且' : ' and ')
}

function listOf(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join('、')}或${last}`
}

/** Latin words in Chinese text have a space on both sides. */
function spaced(text: string): string {
  return text.replaceAll(/(?<=\p{Script=Han})(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=\p{Script=Han})/gu, ' ')
}
