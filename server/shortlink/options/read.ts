// The optional parameters of `generate` and `update`: what they change, and what is wrong with them.
import { clearableFields, type ClearableField, linkLimits } from '../../../contract/shortlink.ts'
import type { Text } from '../../../contract/text.ts'
import { parseTime } from '../../../contract/time.ts'
import { countCharacters, printable } from '../../../contract/values.ts'
import { inThePast, notATime, notBetween } from '../../http/value-problems.ts'
import type { InvalidParameter } from '../../http/parameters.ts'
import { chosenCodeProblem } from '../codes/chosen.ts'
import { type CheckedTarget, problemOf, titleProblem } from '../targets.ts'
import type { StoredRule } from './record.ts'
import { readRuleInput } from './rules.ts'

export interface OptionInput {
  readonly short_code?: string | undefined
  readonly expires_at?: string | undefined
  readonly expired_url?: string | undefined
  readonly max_clicks?: number | undefined
  readonly password?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly external_id?: string | undefined
  readonly domain?: string | undefined
  readonly rules?: readonly unknown[] | undefined
  readonly clear?: readonly string[] | undefined
}

/** Undefined leaves a field as it is; null, an empty text and an empty list remove it. */
export interface OptionChange {
  readonly shortCode?: string | undefined
  readonly expiresAt?: number | null | undefined
  readonly expired?: { readonly url: string; readonly location: string } | undefined
  readonly maxClicks?: number | null | undefined
  /** In clear text; hashed before it is stored. */
  readonly password?: string | null | undefined
  readonly tags?: readonly string[] | undefined
  readonly externalId?: string | null | undefined
  /** The host as it was sent; only the database knows whether it is the account's. */
  readonly domain?: string | undefined
  readonly rules?: readonly StoredRule[] | undefined
}

const optionNames = [
  'short_code',
  'expires_at',
  'expired_url',
  'max_clicks',
  'password',
  'tags',
  'external_id',
  'domain',
  'rules',
  'clear',
] as const satisfies readonly (keyof OptionInput)[]

export function hasOptions(input: OptionInput): boolean {
  for (const name of optionNames) if (input[name] !== undefined) return true
  return false
}

/** A redirect that browsers remember cannot depend on time, visits, a password or the visitor. */
export const permanentProblem: Text = {
  zh: 'permanent 不能与 expires_at、max_clicks、password、rules 同时使用',
  en: 'permanent cannot be combined with expires_at, max_clicks, password or rules',
}

/** Whether a link with these options cannot be permanent. */
export function isConditional({ expiresAt, maxClicks, password, rules }: OptionChange): boolean {
  return (
    typeof expiresAt === 'number' ||
    typeof maxClicks === 'number' ||
    typeof password === 'string' ||
    (rules !== undefined && rules.length > 0)
  )
}

export function readOptions(
  input: OptionInput & { readonly redirect_url_a?: string | undefined },
  check: (url: string) => CheckedTarget,
  problems: InvalidParameter[],
): { readonly change: OptionChange; readonly clears: ReadonlySet<ClearableField> } {
  const clears = readClear(input, problems)
  const target = (name: 'expired_url') => {
    const url = input[name]
    if (url === undefined) return clears.has(name) ? { url: '', location: '' } : undefined
    const checked = check(url)
    if ('location' in checked) return { url, location: checked.location }
    problems.push(problemOf(name, checked))
    return undefined
  }
  if (input.short_code !== undefined) {
    const problem = chosenCodeProblem(input.short_code)
    if (problem) problems.push({ name: 'short_code', ...problem })
  }
  if (input.max_clicks !== undefined && !(input.max_clicks >= 1 && input.max_clicks <= linkLimits.maxClicks))
    problems.push({ name: 'max_clicks', text: wrongMaxClicks })
  const { min, max } = linkLimits.passwordLength
  if (input.password !== undefined && !isLength(input.password, min, max))
    problems.push({ name: 'password', text: lengthText(min, max) })
  if (input.external_id !== undefined) {
    const wrong = isLength(input.external_id, 1, linkLimits.externalIdLength)
      ? titleProblem(input.external_id)
      : lengthText(1, linkLimits.externalIdLength)
    if (wrong) problems.push({ name: 'external_id', text: wrong })
  }
  const cleared = <T>(name: ClearableField, value: T) => (clears.has(name) ? value : undefined)
  const change = {
    shortCode: input.short_code,
    expiresAt: readExpiry(input.expires_at, problems) ?? cleared('expires_at', null),
    expired: target('expired_url'),
    maxClicks: input.max_clicks ?? cleared('max_clicks', null),
    password: input.password ?? cleared('password', null),
    tags: readTagInput(input.tags, problems) ?? cleared('tags', []),
    externalId: input.external_id ?? cleared('external_id', null),
    domain: input.domain,
    rules: input.rules === undefined ? cleared('rules', []) : readRuleInput(input.rules, check, problems),
  }
  return { change, clears }
}

const wrongMaxClicks = notBetween(1, linkLimits.maxClicks)

function readClear(
  input: OptionInput & { readonly redirect_url_a?: string | undefined },
  problems: InvalidParameter[],
): ReadonlySet<ClearableField> {
  const clears = new Set<ClearableField>()
  for (const sent of input.clear ?? []) {
    const name = sent.trim()
    if (!isClearable(name)) {
      problems.push({
        name: 'clear',
        text: { zh: `不支持 ${printable(name)}`, en: `does not support ${printable(name)}` },
      })
    } else if (input[name] !== undefined) {
      problems.push({
        name: 'clear',
        text: { zh: `与 ${name} 的新值不能同时传入`, en: `and a new value of ${name} cannot be combined` },
      })
    } else clears.add(name)
    // One message must not grow with the list.
    if (problems.length > 20) break
  }
  return clears
}

function isClearable(name: string): name is ClearableField {
  return (clearableFields as readonly string[]).includes(name)
}

function readExpiry(text: string | undefined, problems: InvalidParameter[]): number | undefined {
  if (text === undefined) return undefined
  const at = parseTime(text)
  if (at === undefined) problems.push({ name: 'expires_at', text: notATime })
  else if (at <= Date.now()) problems.push({ name: 'expires_at', text: inThePast })
  return at
}

function readTagInput(
  sent: readonly string[] | undefined,
  problems: InvalidParameter[],
): readonly string[] | undefined {
  if (sent === undefined) return undefined
  const read = readTags(sent, problems.length)
  problems.push(...read.problems)
  return read.tags
}

/** Trimmed, each once. `known` problems are in the same message, which must not grow with the list. */
export function readTags(
  sent: readonly string[],
  known = 0,
): { readonly tags: readonly string[]; readonly problems: readonly InvalidParameter[] } {
  const problems: InvalidParameter[] = []
  const tags = new Set<string>()
  for (const [index, text] of sent.entries()) {
    const tag = text.trim()
    const wrong = isLength(tag, 1, linkLimits.tagLength)
      ? titleProblem(tag)
      : lengthText(1, linkLimits.tagLength)
    if (wrong) problems.push({ name: `tags[${index}]`, text: wrong })
    else tags.add(tag)
    if (known + problems.length > 20) break
  }
  if (tags.size > linkLimits.tags) {
    problems.push({
      name: 'tags',
      text: { zh: `最多 ${linkLimits.tags} 个`, en: `has at most ${linkLimits.tags} tags` },
    })
  }
  return { tags: [...tags], problems }
}

/** Counts characters as people do: a rare Han character is one. */
function isLength(text: string, min: number, max: number): boolean {
  const length = countCharacters(text, max)
  return length >= min && length <= max
}

function lengthText(min: number, max: number): Text {
  return { zh: `必须是 ${min} 至 ${max} 个字符`, en: `must have ${min}–${max} characters` }
}
