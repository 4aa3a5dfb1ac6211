// Statistics of a link or a tag, and links that share them.
import { type Static, Type } from 'typebox'
import { shareLimits } from '../link-analytics.ts'
import { dayRange, Empty, optionalText, positiveId } from './fields.ts'
import type { linkAnalyticsResponses } from './responses/link-analytics.ts'
import { route, withResponses } from './route.ts'

/** Either a link or a tag. */
const subject = { link: Type.Optional(positiveId), tag: optionalText }

/** The last 30 days by default, at most 366. */
export const AnalyticsQuery = Type.Object({ ...subject, ...dayRange })
export type AnalyticsQuery = Static<typeof AnalyticsQuery>

const NewShare = Type.Object({
  ...subject,
  days: Type.Integer({ minimum: shareLimits.days.min, maximum: shareLimits.days.max }),
})

export const linkAnalyticsRoutes = withResponses<typeof linkAnalyticsResponses>()({
  read: route('GET', '/link-analytics', AnalyticsQuery),
  csv: route('GET', '/link-analytics.csv', AnalyticsQuery),
  shares: route('GET', '/link-shares', Empty),
  /** The response is the only one with the address. */
  share: route('POST', '/link-shares', NewShare),
  revoke: route('POST', '/link-shares/:id/revoke', Empty),
})
