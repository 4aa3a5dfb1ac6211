// Short links: list, create, change, refresh, statistics, exports.
import { type Static, Type } from 'typebox'
import { redirectTypes, shortlink } from '../shortlink.ts'
import { route, withResponses } from './route.ts'
import { optionalText, order, page, dayRange, Empty } from './fields.ts'
import type { linkResponses } from './responses/shortlink.ts'

export const redirectType = Type.Enum([...redirectTypes])

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

export const linkRoutes = withResponses<typeof linkResponses>()({
  list: route('GET', '/links', LinkQuery),
  csv: route('GET', '/links.csv', LinkFilter),
  one: route('GET', '/links/:id', Empty),
  /** Takes an `idempotency-key` header, so that a retry after a lost connection costs nothing. */
  create: route('POST', '/links', NewLink),
  change: route('PATCH', '/links/:id', LinkChange),
  /** Assigns a new code; the old addresses end. Takes an `idempotency-key` header. */
  refresh: route('POST', '/links/:id/refresh', Empty),
  clicks: route('GET', '/links/:id/clicks', ClickQuery),
  clicksCsv: route('GET', '/links/:id/clicks.csv', ClickQuery),
})
