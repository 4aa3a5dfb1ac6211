// The state and the options of a link, as `get`, `list` and the console show them.
import type { LinkRule } from '../../../contract/link-rules.ts'
import type { LinkState } from '../../../contract/shortlink.ts'
import { formatTime } from '../../../contract/time.ts'
import type { Link } from '../store.ts'

/** Absent values are empty, null for numbers. */
export interface LinkOptions {
  readonly state: LinkState
  readonly expires_at: string
  readonly expired_url: string
  readonly max_clicks: number | null
  readonly remaining_clicks: number | null
  readonly has_password: boolean
  readonly tags: readonly string[]
  readonly external_id: string
  readonly domain: string
  readonly rules: readonly LinkRule[]
}

export interface StateSource {
  readonly banned: number
  readonly paused: number
  readonly expires_at: number | null
  readonly max_clicks: number | null
  /** Of `max_clicks`. */
  readonly used_clicks: number | null
}

/** No other function depends on the order of the states. */
export function stateOf(link: StateSource, now: number): LinkState {
  if (link.banned !== 0) return 'banned'
  if (link.paused !== 0) return 'paused'
  if (link.expires_at !== null && link.expires_at <= now) return 'expired'
  return link.max_clicks !== null && (link.used_clicks ?? 0) >= link.max_clicks ? 'exhausted' : 'active'
}

export function describeOptions(link: Link, now: number): LinkOptions {
  return {
    state: stateOf(link, now),
    expires_at: link.expires_at === null ? '' : formatTime(link.expires_at),
    expired_url: link.expired_url,
    max_clicks: link.max_clicks,
    remaining_clicks:
      link.max_clicks === null ? null : Math.max(0, link.max_clicks - (link.used_clicks ?? 0)),
    has_password: link.password_hash !== null,
    tags: readTags(link),
    external_id: link.external_id ?? '',
    domain: link.own_domain,
    rules: readRules(link.rules).map(({ when, target_url }) => ({ when, target_url })),
  }
}

export function readTags({ tags }: Pick<Link, 'tags'>): readonly string[] {
  return tags === '' ? [] : (JSON.parse(tags) as string[])
}

/** A rule as it is stored, with the ASCII form of its target. */
export interface StoredRule extends LinkRule {
  readonly location: string
}

export function readRules(text: string): readonly StoredRule[] {
  return text === '' ? [] : (JSON.parse(text) as StoredRule[])
}
