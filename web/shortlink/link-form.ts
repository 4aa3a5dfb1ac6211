// The values of the link form: what a link has, what creates one, and what changes one.
import type { LinkDetail } from '../../contract/console/responses/shortlink.ts'
import type { LinkChange, NewLink } from '../../contract/console/shortlink.ts'
import { type RuleCondition, ruleConditions } from '../../contract/link-rules.ts'
import type { ClearableField, RedirectType } from '../../contract/shortlink.ts'
import { readMoment, showMoment } from '../parts/moment.ts'

export interface RuleValues {
  /** In the order in which they are shown. */
  readonly conditions: readonly { readonly name: RuleCondition; readonly values: readonly string[] }[]
  readonly target_url: string
}

export interface LinkValues {
  readonly target_url: string
  readonly title: string
  readonly domain: string
  readonly short_code: string
  readonly tags: readonly string[]
  readonly external_id: string
  readonly redirect_type: RedirectType
  readonly redirect_url_a: string
  /** As typed: `2026-01-02 03:04` in Shanghai. */
  readonly expires_at: string
  readonly expired_url: string
  readonly max_clicks: number | null
  /** A new one; the old one is never known. */
  readonly password: string
  readonly keeps_password: boolean
  readonly rules: readonly RuleValues[]
}

export const emptyLink: LinkValues = {
  target_url: '',
  title: '',
  domain: '',
  short_code: '',
  tags: [],
  external_id: '',
  redirect_type: 'direct',
  redirect_url_a: '',
  expires_at: '',
  expired_url: '',
  max_clicks: null,
  password: '',
  keeps_password: false,
  rules: [],
}

export const conditionNames = Object.keys(ruleConditions) as RuleCondition[]

export function valuesOf(link: LinkDetail): LinkValues {
  return {
    target_url: link.target_url,
    title: link.title,
    domain: link.domain,
    short_code: link.short_code,
    tags: link.tags,
    external_id: link.external_id,
    redirect_type: link.redirect_type,
    redirect_url_a: link.redirect_url_a,
    expires_at: link.expires_at === null ? '' : showMoment(link.expires_at),
    expired_url: link.expired_url,
    max_clicks: link.max_clicks,
    password: '',
    keeps_password: link.has_password,
    rules: link.rules.map(({ when, target_url }) => ({
      target_url,
      conditions: conditionNames.flatMap((name) => {
        const sent = when[name]
        if (sent === undefined) return []
        return [{ name, values: typeof sent === 'string' ? [sent] : sent }]
      }),
    })),
  }
}

function ruleOf({ conditions, target_url }: RuleValues) {
  const when: Record<string, string[]> = {}
  for (const { name, values } of conditions) if (values.length > 0) when[name] = [...values]
  return { when, target_url: target_url.trim() }
}

export function newLinkOf(values: LinkValues): NewLink {
  const { max_clicks: maxClicks } = values
  const texts = {
    title: values.title.trim(),
    domain: values.domain,
    short_code: values.short_code.trim(),
    external_id: values.external_id.trim(),
    redirect_url_a: values.redirect_url_a.trim(),
    // The form accepts only what can be read.
    expires_at: readMoment(values.expires_at) ?? '',
    expired_url: values.expired_url.trim(),
    password: values.password,
  }
  return {
    target_url: values.target_url.trim(),
    redirect_type: values.redirect_type,
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
    ...(maxClicks === null ? {} : { max_clicks: maxClicks }),
    ...(values.tags.length === 0 ? {} : { tags: [...values.tags] }),
    ...(values.rules.length === 0 ? {} : { rules: values.rules.map(ruleOf) }),
  }
}

/** Only what differs. Undefined when nothing does. */
export function changeOf(before: LinkValues, after: LinkValues): LinkChange | undefined {
  const [old, next] = [newLinkOf(before), newLinkOf(after)]
  const change: Record<string, unknown> = {}
  const clear: ClearableField[] = []
  for (const name of ['target_url', 'title', 'redirect_type'] as const) {
    if (next[name] !== undefined && next[name] !== old[name]) change[name] = next[name]
  }
  for (const name of removable) {
    if (JSON.stringify(next[name]) === JSON.stringify(old[name])) continue
    if (next[name] === undefined) clear.push(name)
    else change[name] = next[name]
  }
  if (after.password !== '') change['password'] = after.password
  else if (before.keeps_password && !after.keeps_password) clear.push('password')
  if (clear.length > 0) change['clear'] = clear
  return Object.keys(change).length === 0 ? undefined : change
}

const removable = [
  'expires_at',
  'expired_url',
  'max_clicks',
  'tags',
  'external_id',
  'rules',
  'redirect_url_a',
] as const satisfies readonly ClearableField[]

/** Which field of the form a problem belongs to: `rules[0].when.os` is shown at the rules. */
export function fieldOf(name: string): string {
  return name.replace(/[[.].*$/, '')
}
