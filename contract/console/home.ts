// The home page: balances and how long they last, calls per day, frequent errors, first steps.
import { DayRange } from './fields.ts'
import { type Day, route } from './route.ts'
import type { ApiType } from '../credits.ts'
import type { Balance } from './session.ts'

/** The endpoints as the request log names them. */
export const endpointNames = ['shortlink', 'sms', 'identity', 'domain-check'] as const

export type EndpointName = (typeof endpointNames)[number]

export interface BalanceOutlook extends Balance {
  /** Credits used per day over the last 14 days, today last. */
  readonly daily: readonly number[]
  /** Used in the last seven days. */
  readonly used_7d: number
  /** Days left at the rate of the last seven days; null when nothing was used. */
  readonly days_left: number | null
  /** `low` under 20 % of the total, `critical` under 5 % or three days, `empty` at 0, `none` when never granted. */
  readonly level: 'ok' | 'low' | 'critical' | 'empty' | 'none'
}

export interface DayOfCalls {
  readonly day: Day
  readonly calls: Readonly<Record<EndpointName, number>>
  readonly total: number
  readonly succeeded: number
  /** Charged minus refunded. */
  readonly credits: Readonly<Record<ApiType, number>>
}

export interface CommonError {
  readonly endpoint: EndpointName
  /** The code of the response; the HTTP status on the short link endpoint. */
  readonly code: number
  readonly count: number
  /** In the language of the request. */
  readonly meaning: string
  readonly advice: string
}

export interface Home {
  readonly from: Day
  readonly to: Day
  readonly balances: readonly BalanceOutlook[]
  /** One for every day of the range. */
  readonly days: readonly DayOfCalls[]
  readonly errors: readonly CommonError[]
  readonly checklist: {
    readonly has_key: boolean
    readonly has_call: boolean
    /** A successful call that cost credits. */
    readonly has_success: boolean
    readonly has_credits: boolean
  }
}

export const homeRoutes = {
  /** At most 366 days; the last 14 by default. */
  home: route('GET', '/home', DayRange).returns<Home>(),
} as const
