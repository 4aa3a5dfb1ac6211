// Responses of the statistics of links, and of links that share them.
import { Type } from 'typebox'
import { analyticsParts } from '../../link-analytics.ts'
import { day, Empty } from '../fields.ts'
import type { ResponseOf } from '../route.ts'
import { byName, csvFile, extend, listOf, moment, orNull } from './fields.ts'

const ValueClicks = Type.Object({ value: Type.String(), clicks: Type.Integer() })

/** `visitors` are distinct people per day, summed over the days. `scans` are part of `clicks`. */
const Totals = Type.Object({
  clicks: Type.Integer(),
  bots: Type.Integer(),
  previews: Type.Integer(),
  visitors: Type.Integer(),
  scans: Type.Integer(),
})

export const LinkAnalytics = Type.Object({
  /** The title of the link, or the tag. */
  name: Type.String(),
  /** Empty for a tag. */
  a_url: Type.String(),
  from: day,
  to: day,
  totals: Totals,
  /** The same number of days before. */
  previous: extend(Totals, { from: day, to: day }),
  days: Type.Array(
    Type.Object({
      day,
      person: Type.Integer(),
      bot: Type.Integer(),
      preview: Type.Integer(),
      previous: Type.Integer(),
    }),
  ),
  /** Visits by people, most frequent first; an empty value is unknown, `*` the rest. */
  parts: byName(analyticsParts, Type.Array(ValueClicks)),
})
export type LinkAnalytics = ResponseOf<typeof LinkAnalytics>

const LinkShare = Type.Object({
  id: Type.Integer(),
  link: orNull(Type.Integer()),
  tag: orNull(Type.String()),
  expires_at: moment,
  created_at: moment,
})
export type LinkShare = ResponseOf<typeof LinkShare>

export const linkAnalyticsResponses = {
  read: LinkAnalytics,
  csv: csvFile,
  shares: listOf(LinkShare),
  share: extend(LinkShare, { url: Type.String() }),
  revoke: Empty,
} as const
