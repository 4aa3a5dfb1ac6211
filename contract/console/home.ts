// The home page: balances and how long they last, calls a day, the most common errors, the first steps.
import type { ApiType } from '../credits.ts'
import { type Day, type DayRange, route } from './route.ts'
import type { Balance } from './session.ts'

/** The endpoints as the request log names them. */
export const endpointNames = ['shortlink', 'sms', 'identity', 'domain-check'] as const

export type EndpointName = (typeof endpointNames)[number]

export interface BalanceOutlook extends Balance {
  /** Credits used a day, the last 14 days, today last. */
  readonly daily: readonly number[]
  /** Used in the last seven days. */
  readonly used_7d: number
  /** Days left at the pace of the last seven days; null when nothing was used. */
  readonly days_left: number | null
  /** `low` under 20 % of the total, `critical` under 5 % or three days, `empty` at 0 of something, `none` when never bought. */
  readonly level: 'ok' | 'low' | 'critical' | 'empty' | 'none'
}

export interface DayOfCalls {
  readonly day: Day
  readonly calls: Readonly<Record<EndpointName, number>>
  readonly total: number
  readonly succeeded: number
  /** Charged less given back. */
  readonly credits: Readonly<Record<ApiType, number>>
}

export interface CommonError {
  readonly endpoint: EndpointName
  /** The code of the answer; the HTTP status on the short link endpoint. */
  readonly code: number
  readonly count: number
  /** What the code means and what to do about it, in the language of the request. */
  readonly meaning: string
  readonly advice: string
}

export interface Home {
  readonly from: Day
  readonly to: Day
  readonly balances: readonly BalanceOutlook[]
  /** One for each day of the range, empty ones too. */
  readonly days: readonly DayOfCalls[]
  readonly errors: readonly CommonError[]
  readonly checklist: {
    readonly has_key: boolean
    readonly has_call: boolean
    /** A call that succeeded and cost something. */
    readonly has_success: boolean
    readonly has_credits: boolean
  }
}

export const homeRoutes = {
  /** The last 14 days when no range is given; 366 days at most. */
  home: route<DayRange, Home>('GET', '/home'),
} as const
