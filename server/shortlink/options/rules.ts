// Redirect rules: read from a call, stored as JSON, matched with a visit.
import { type LinkRule, type RuleCondition, ruleConditions } from '../../../contract/link-rules.ts'
import { countryNames, provinces } from '../../../contract/places.ts'
import { linkLimits } from '../../../contract/shortlink.ts'
import type { Text } from '../../../contract/text.ts'
import { isRecord, printable } from '../../../contract/values.ts'
import type { InvalidParameter } from '../../http/parameters.ts'
import { type CheckedTarget, problemOf } from '../targets.ts'
import type { StoredRule } from './record.ts'

const conditionNames = Object.keys(ruleConditions) as RuleCondition[]
const patterns = new Map(
  Object.entries(ruleConditions).flatMap(([name, condition]) =>
    'pattern' in condition ? [[name, new RegExp(condition.pattern)]] : [],
  ),
)

/** Country and province codes are upper case, everything else is lower case; callers may write both. */
function normalized(name: RuleCondition, value: string): string {
  const text = value.trim()
  return name === 'country' || name === 'province' ? text.toUpperCase() : text.toLowerCase()
}

/** Returns the valid rules, and adds every problem to `problems` under `rules[0].when.os` and the like. */
export function readRuleInput(
  input: readonly unknown[],
  check: (url: string) => CheckedTarget,
  problems: InvalidParameter[],
): StoredRule[] {
  if (input.length > linkLimits.rules) {
    problems.push({
      name: 'rules',
      text: { zh: `最多 ${linkLimits.rules} 条`, en: `has at most ${linkLimits.rules} rules` },
    })
    return []
  }
  return input.flatMap((rule, index) => {
    const name = `rules[${index}]`
    const known = problems.length
    if (!isRecord(rule)) {
      problems.push({ name, text: { zh: '必须是对象', en: 'must be an object' } })
      return []
    }
    for (const key of Object.keys(rule)) {
      if (key !== 'when' && key !== 'target_url') {
        problems.push({ name: `${name}.${printable(key)}`, text: unknownName })
      }
    }
    const when = readConditions(rule['when'], `${name}.when`, problems)
    const location = readTarget(rule['target_url'], `${name}.target_url`, check, problems)
    if (problems.length > known || when === undefined || location === undefined) return []
    return [{ when, ...location }]
  })
}

function readTarget(
  value: unknown,
  name: string,
  check: (url: string) => CheckedTarget,
  problems: InvalidParameter[],
): Pick<StoredRule, 'target_url' | 'location'> | undefined {
  const url = typeof value === 'string' ? value.trim() : ''
  if (url === '') {
    problems.push({ name, text: { zh: '缺失', en: 'is missing' } })
    return undefined
  }
  const checked = check(url)
  if ('location' in checked) return { target_url: url, location: checked.location }
  problems.push(problemOf(name, checked))
  return undefined
}

function readConditions(
  value: unknown,
  name: string,
  problems: InvalidParameter[],
): LinkRule['when'] | undefined {
  if (!isRecord(value) || Object.keys(value).length === 0) {
    problems.push({
      name,
      text: {
        zh: `必须是至少含一个条件的对象：${conditionNames.join('、')}`,
        en: `must be an object with at least one of ${conditionNames.join(', ')}`,
      },
    })
    return undefined
  }
  const when: Partial<Record<RuleCondition, string | readonly string[]>> = {}
  for (const [key, sent] of Object.entries(value)) {
    const field = `${name}.${printable(key)}`
    if (!isCondition(key)) {
      problems.push({ name: field, text: unknownName })
      continue
    }
    const list = Array.isArray(sent) ? (sent as readonly unknown[]) : [sent]
    const texts = list.filter((one): one is string => typeof one === 'string')
    const values = texts.map((one) => normalized(key, one))
    if (list.length === 0 || list.length > linkLimits.ruleValues || texts.length < list.length) {
      problems.push({ name: field, text: notValues })
    } else if (!values.every((one) => isAllowed(key, one)))
      problems.push({ name: field, text: allowedText(key) })
    else when[key] = Array.isArray(sent) ? values : values[0]!
  }
  return when
}

const unknownName: Text = { zh: '不支持', en: 'is not supported' }
const notValues: Text = {
  zh: `必须是文本或 1 至 ${linkLimits.ruleValues} 个文本的列表`,
  en: `must be a text or a list of 1–${linkLimits.ruleValues} texts`,
}

function isCondition(name: string): name is RuleCondition {
  return Object.hasOwn(ruleConditions, name)
}

function isAllowed(name: RuleCondition, value: string): boolean {
  const condition = ruleConditions[name]
  if ('values' in condition) return (condition.values as readonly string[]).includes(value)
  if (name === 'country') return countryNames('en').has(value)
  return name === 'province' ? Object.hasOwn(provinces, value) : patterns.get(name)!.test(value)
}

function allowedText(name: RuleCondition): Text {
  const condition = ruleConditions[name]
  if ('values' in condition) {
    return {
      zh: `只能是 ${condition.values.join('、')}`,
      en: `must be one of ${condition.values.join(', ')}`,
    }
  }
  return codeTexts[name as keyof typeof codeTexts]
}

const codeTexts = {
  country: {
    zh: '必须是 ISO 3166-1 的两位国家代码，例如 CN',
    en: 'must be a country code of ISO 3166-1, such as CN',
  },
  province: {
    zh: '必须是 ISO 3166-2 的省份代码（不含 CN-），例如 GD',
    en: 'must be the code of a province of China in ISO 3166-2 without CN-, such as GD',
  },
  language: { zh: '必须是两个字母的代码', en: 'must be a code of two letters' },
} as const satisfies Partial<Record<RuleCondition, Text>>

/** What the rules of a link can ask of a visit. Unknown values are empty and match nothing. */
export interface RuleVisit {
  readonly os: string
  readonly device: string
  readonly app: string
  readonly language: string
  /** Looked up only when a rule asks for it. */
  place(): { readonly country: string; readonly province: string }
}

/** The location of the first rule that matches. */
export function matchRules(rules: readonly StoredRule[], visit: RuleVisit): string | undefined {
  return rules.find(({ when }) => conditionNames.every((name) => matches(name, when[name], visit)))?.location
}

/** Their places are provinces of CN in the data, and countries of their own in ISO 3166-1: both match. */
const alsoCountries = ['HK', 'MO', 'TW']

function matches(
  name: RuleCondition,
  wanted: string | readonly string[] | undefined,
  visit: RuleVisit,
): boolean {
  if (wanted === undefined) return true
  if (name !== 'country' && name !== 'province') return isIn(wanted, visit[name])
  const { country, province } = visit.place()
  if (name === 'province') return country === 'CN' && isIn(wanted, province)
  return isIn(wanted, country) || (alsoCountries.includes(province) && isIn(wanted, province))
}

function isIn(wanted: string | readonly string[], value: string): boolean {
  if (value === '') return false
  return typeof wanted === 'string' ? wanted === value : wanted.includes(value)
}
