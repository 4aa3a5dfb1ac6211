// Short links: list, create, change, refresh, statistics, exports.
import { type Static, Type } from 'typebox'
import { type RedirectType, redirectTypes, shortlink } from '../shortlink.ts'
import { dayRange, Empty, optionalText, order, page } from './fields.ts'
import { type CsvFile, type Day, type Moment, type Page, route } from './route.ts'
export interface LinkRow {
  readonly id: number
  readonly title: string
  readonly short_code: string
  readonly a_url: string
  readonly b_url: string
  readonly target_url: string
  readonly redirect_type: RedirectType
  /** Where `a_url` leads, when not to the target. */
  readonly redirect_url_a: string
  /** Visits by people. */
  readonly clicks: number
  readonly bot_clicks: number
  readonly preview_clicks: number
  /** Visits by people per day over the last 14 days, today last. */
  readonly daily: readonly number[]
  readonly created_at: Moment
  readonly updated_at: Moment
}

export interface LinkDetail extends LinkRow {
  /** Former codes of the link, newest first. */
  readonly retired: readonly { readonly short_code: string; readonly retired_at: Moment }[]
}

/** A created or refreshed link and the remaining credits. */
export interface PaidLink {
  readonly link: LinkDetail
  readonly charged: number
  readonly remaining: number
}

export interface NamedCount {
  readonly name: string
  readonly count: number
}

export interface LinkClicks {
  readonly from: Day
  readonly to: Day
  readonly unit: 'day' | 'hour'
  /** One for every unit of the range. */
  readonly points: readonly {
    /** The first millisecond of the unit. */
    readonly at: Moment
    readonly person: number
    readonly bot: number
    readonly preview: number
  }[]
  /** Visits by people, most frequent first; an empty name is a direct or unknown visit. */
  readonly referrers: readonly NamedCount[]
  readonly devices: readonly NamedCount[]
  readonly browsers: readonly NamedCount[]
}

const redirectType = Type.Enum([...redirectTypes])

/** `q` is a part of the title or of the target, or a whole code. */
export const LinkFilter = Type.Object({
  ...dayRange,
  q: optionalText,
  redirect_type: Type.Optional(redirectType),
  sort: Type.Optional(Type.Enum(['created', 'clicks', 'title'])),
  order,
})
export type LinkFilter = Static<typeof LinkFilter>

export const LinkQuery = Type.Object({ ...LinkFilter.properties, ...page })
export type LinkQuery = Static<typeof LinkQuery>

const { target_url: targetParameter, title: titleParameter } = shortlink.operations.generate.parameters

// Twice the API's limits, so that the API's own message says what is allowed.
const url = Type.String({ minLength: 1, maxLength: 2 * targetParameter.maxLength })
const title = Type.String({ maxLength: 2 * titleParameter.maxLength })

/** The title is the target's host when left out. */
export const NewLink = Type.Object({
  target_url: url,
  title: Type.Optional(title),
  redirect_type: Type.Optional(redirectType),
  redirect_url_a: Type.Optional(Type.String({ maxLength: 2 * targetParameter.maxLength })),
})
export type NewLink = Static<typeof NewLink>

const LinkChange = Type.Object({ target_url: Type.Optional(url), title: Type.Optional(title) })

/** `hour` for at most 7 days. */
export const ClickQuery = Type.Object({ ...dayRange, unit: Type.Optional(Type.Enum(['day', 'hour'])) })
export type ClickQuery = Static<typeof ClickQuery>

export const linkRoutes = {
  list: route('GET', '/links', LinkQuery).returns<Page<LinkRow>>(),
  csv: route('GET', '/links.csv', LinkFilter).returns<CsvFile>(),
  one: route('GET', '/links/:id', Empty).returns<LinkDetail>(),
  /** Takes an `idempotency-key` header, so that a retry after a lost connection costs nothing. */
  create: route('POST', '/links', NewLink).returns<PaidLink>(),
  change: route('PATCH', '/links/:id', LinkChange).returns<LinkDetail>(),
  /** Assigns a new code; the old addresses end. Takes an `idempotency-key` header. */
  refresh: route('POST', '/links/:id/refresh', Empty).returns<PaidLink>(),
  clicks: route('GET', '/links/:id/clicks', ClickQuery).returns<LinkClicks>(),
  clicksCsv: route('GET', '/links/:id/clicks.csv', ClickQuery).returns<CsvFile>(),
} as const
