// Short links in the console: list, create, change, refresh, statistics, exports.
import {
  type Day,
  type DayRange,
  type Empty,
  type File,
  type Moment,
  type Page,
  type PageQuery,
  route,
} from './route.ts'

export type RedirectType = 'direct' | 'permanent' | 'page'

export interface LinkQuery extends PageQuery, DayRange {
  /** Part of the title or of the target, or a whole code. */
  readonly q?: string
  readonly redirect_type?: RedirectType
  readonly sort?: 'created' | 'clicks' | 'title'
  readonly order?: 'asc' | 'desc'
}

export interface LinkRow {
  readonly id: number
  readonly title: string
  readonly short_code: string
  readonly a_url: string
  readonly b_url: string
  readonly target_url: string
  readonly redirect_type: RedirectType
  /** Where `a_url` leads when not to the target. */
  readonly redirect_url_a: string
  /** People's visits. */
  readonly clicks: number
  readonly bot_clicks: number
  readonly preview_clicks: number
  /** People's visits a day, the last 14 days, today last. */
  readonly daily: readonly number[]
  readonly created_at: Moment
  readonly updated_at: Moment
}

export interface LinkDetail extends LinkRow {
  /** Codes the link had before, newest first. */
  readonly retired: readonly { readonly short_code: string; readonly retired_at: Moment }[]
}

export interface NewLink {
  readonly target_url: string
  /** The target's host when left out. */
  readonly title?: string
  readonly redirect_type?: RedirectType
  readonly redirect_url_a?: string
}

export interface LinkChange {
  readonly target_url?: string
  readonly title?: string
}

/** A changed link, and what is left after paying for it. */
export interface PaidLink {
  readonly link: LinkDetail
  readonly charged: number
  readonly remaining: number
}

export interface ClickQuery extends DayRange {
  /** `hour` for at most 7 days. */
  readonly unit?: 'day' | 'hour'
}

export interface NamedCount {
  readonly name: string
  readonly count: number
}

export interface LinkClicks {
  readonly from: Day
  readonly to: Day
  readonly unit: 'day' | 'hour'
  /** Every unit of the range, empty ones too. */
  readonly points: readonly {
    /** The unit's first moment. */
    readonly at: Moment
    readonly person: number
    readonly bot: number
    readonly preview: number
  }[]
  /** Of people only, most frequent first; an empty name is a direct visit or an unknown one. */
  readonly referrers: readonly NamedCount[]
  readonly devices: readonly NamedCount[]
  readonly browsers: readonly NamedCount[]
}

export const linkRoutes = {
  list: route<LinkQuery, Page<LinkRow>>('GET', '/links'),
  csv: route<Omit<LinkQuery, keyof PageQuery>, File>('GET', '/links.csv'),
  one: route<Empty, LinkDetail>('GET', '/links/:id'),
  /** Send an `idempotency-key` header: a repeat after a lost connection then costs nothing. */
  create: route<NewLink, PaidLink>('POST', '/links'),
  change: route<LinkChange, LinkDetail>('PATCH', '/links/:id'),
  /** A new code; the old addresses end. `idempotency-key` as above. */
  refresh: route<Empty, PaidLink>('POST', '/links/:id/refresh'),
  clicks: route<ClickQuery, LinkClicks>('GET', '/links/:id/clicks'),
  clicksCsv: route<ClickQuery, File>('GET', '/links/:id/clicks.csv'),
} as const
