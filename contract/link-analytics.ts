// Statistics of a link or a tag on one page, and links that share them.

/** What `stats` groups visits by. */
export const statParts = [
  'day',
  'hour',
  'country',
  'province',
  'device',
  'os',
  'browser',
  'app',
  'referrer',
] as const

export type StatPart = (typeof statParts)[number]

/** The longest range of `stats`, in days. Hours are kept for 60 days. */
export const maxStatDays = { hour: 62, other: 3_660 } as const

/** What visits by people are broken down by. */
export const analyticsParts = ['referrer', 'province', 'country', 'device', 'os', 'browser', 'app'] as const

export type AnalyticsPart = (typeof analyticsParts)[number]

/** The longest range, the values of each part, and the links of a tag that are summed. */
export const analyticsLimits = { days: 366, values: 100, links: 50_000 } as const

/** Days that a shared page can show. */
export const sharedDays = [7, 30, 90] as const

export const shareLimits = {
  days: { min: 1, max: 365, default: 30 },
  /** Of one account, valid ones. */
  shares: 100,
  /** Days and number of ended ones that are kept of one account. */
  keepDays: 30,
  ended: 200,
  /** Views by one network, in a minute. */
  viewsPerMinute: 60,
} as const

/** The path of a shared page, followed by its token. */
export const sharePath = '/share/'
