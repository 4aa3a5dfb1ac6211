// The home page: balances and how long they last, calls per day, frequent errors, first steps.
import { route, withResponses } from './route.ts'
import { DayRange } from './fields.ts'
import type { homeResponses } from './responses/home.ts'

export const homeRoutes = withResponses<typeof homeResponses>()({
  /** At most 366 days; the last 14 by default. */
  home: route('GET', '/home', DayRange),
})
