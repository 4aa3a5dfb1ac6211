// The home page: balances and how long they last, calls per day, frequent errors, first steps.
import { Type } from 'typebox'
import { route, withResponses } from './route.ts'
import { DayRange } from './fields.ts'
import type { homeResponses } from './responses/home.ts'

/** The endpoints as the request log names them. */
export const endpointNames = ['shortlink', 'sms', 'identity', 'domain-check'] as const

export type EndpointName = (typeof endpointNames)[number]

export const endpointName = Type.Enum([...endpointNames])

export const homeRoutes = withResponses<typeof homeResponses>()({
  /** At most 366 days; the last 14 by default. */
  home: route('GET', '/home', DayRange),
})
