// Short links: list, create, change, refresh, changes of many links, statistics, exports.
import { type Static, Type } from 'typebox'
import { clearableFields, linkLimits, linkStates, redirectTypes, shortlink } from '../shortlink.ts'
import { route, withResponses } from './route.ts'
import { dayRange, Empty, optionalText, order, page, positiveId } from './fields.ts'
import type { linkResponses } from './responses/shortlink.ts'

const redirectType = Type.Enum([...redirectTypes])

/** `q` is a part of the title or of the target, or a whole code. */
export const LinkFilter = Type.Object({
  ...dayRange,
  q: optionalText,
  redirect_type: Type.Optional(redirectType),
  tag: optionalText,
  state: Type.Optional(Type.Enum([...linkStates])),
  sort: Type.Optional(Type.Enum(['created', 'clicks', 'title'])),
  order,
})
export type LinkFilter = Static<typeof LinkFilter>

const LinkQuery = Type.Object({ ...LinkFilter.properties, ...page })

const { target_url: targetParameter, title: titleParameter } = shortlink.operations.generate.parameters

// Twice the API's limits, so that the API's own message says what is allowed.
const url = Type.String({ minLength: 1, maxLength: 2 * targetParameter.maxLength })
const title = Type.String({ maxLength: 2 * titleParameter.maxLength })

const text = Type.String({ maxLength: 300 })

/** The optional parameters of `generate` and `update`. The operations check them and name what is wrong. */
const options = {
  redirect_type: Type.Optional(redirectType),
  redirect_url_a: Type.Optional(Type.String({ maxLength: 2 * targetParameter.maxLength })),
  expires_at: Type.Optional(text),
  expired_url: Type.Optional(Type.String({ maxLength: 2 * targetParameter.maxLength })),
  max_clicks: Type.Optional(Type.Integer()),
  password: Type.Optional(text),
  tags: Type.Optional(Type.Array(text, { maxItems: 2 * linkLimits.tags })),
  external_id: Type.Optional(text),
  rules: Type.Optional(
    Type.Array(
      Type.Object({
        when: Type.Record(
          Type.String({ maxLength: 20 }),
          Type.Union([text, Type.Array(text, { maxItems: 2 * linkLimits.ruleValues })]),
        ),
        target_url: Type.String({ maxLength: 2 * targetParameter.maxLength }),
      }),
      { maxItems: 2 * linkLimits.rules },
    ),
  ),
}

/** The title is the target's host when left out. */
export const NewLink = Type.Object({
  target_url: url,
  title: Type.Optional(title),
  short_code: Type.Optional(text),
  domain: Type.Optional(text),
  ...options,
})
export type NewLink = Static<typeof NewLink>

/** What is left out stays as it is; `clear` removes. */
export const LinkChange = Type.Object({
  target_url: Type.Optional(url),
  title: Type.Optional(title),
  ...options,
  clear: Type.Optional(Type.Array(Type.Enum([...clearableFields]), { maxItems: clearableFields.length })),
})
export type LinkChange = Static<typeof LinkChange>

const CodeQuery = Type.Object({ short_code: Type.String({ minLength: 1, maxLength: 100 }) })

/** `tag` and `untag` need a tag. `delete` is final. */
const bulkActions = ['tag', 'untag', 'pause', 'resume', 'delete'] as const

export const maxBulkLinks = 100

const BulkChange = Type.Object({
  action: Type.Enum([...bulkActions]),
  tag: Type.Optional(text),
  ids: Type.Array(positiveId, { minItems: 1, maxItems: maxBulkLinks }),
})
export type BulkChange = Static<typeof BulkChange>

/** The links of a filter, or the chosen ones. */
const LinkExport = Type.Object({
  ...LinkFilter.properties,
  ids: Type.Optional(
    Type.String({ pattern: `^[1-9]\\d{0,15}(,[1-9]\\d{0,15}){0,${maxBulkLinks - 1}}$`, maxLength: 2_000 }),
  ),
})

/** `hour` for at most 7 days. */
export const ClickQuery = Type.Object({ ...dayRange, unit: Type.Optional(Type.Enum(['day', 'hour'])) })
export type ClickQuery = Static<typeof ClickQuery>

export const linkRoutes = withResponses<typeof linkResponses>()({
  list: route('GET', '/links', LinkQuery),
  csv: route('GET', '/links.csv', LinkExport),
  /** Whether a chosen code is free. */
  code: route('GET', '/links/code', CodeQuery),
  /** The account's tags, the first 200 in their order. */
  tags: route('GET', '/links/tags', Empty),
  /** One result for each link; a problem of one does not stop the others. */
  bulk: route('POST', '/links/bulk', BulkChange),
  one: route('GET', '/links/:id', Empty),
  /** Takes an `idempotency-key` header, so that a retry after a lost connection costs nothing. */
  create: route('POST', '/links', NewLink),
  change: route('PATCH', '/links/:id', LinkChange),
  /** Assigns a new code; the old addresses end. Takes an `idempotency-key` header. */
  refresh: route('POST', '/links/:id/refresh', Empty),
  clicks: route('GET', '/links/:id/clicks', ClickQuery),
  clicksCsv: route('GET', '/links/:id/clicks.csv', ClickQuery),
})
