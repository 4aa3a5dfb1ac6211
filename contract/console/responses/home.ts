// Response of the home page.
import { Type } from 'typebox'
import { apiTypes } from '../../credits.ts'
import type { ResponseOf } from '../route.ts'
import { endpointName, endpointNames } from '../values.ts'
import { day } from '../fields.ts'
import { Balance } from './session.ts'
import { orNull, extend, byName } from './fields.ts'

export const BalanceOutlook = extend(Balance, {
  /** Credits used per day over the last 14 days, today last. */
  daily: Type.Array(Type.Integer()),
  /** Used in the last seven days. */
  used_7d: Type.Integer(),
  /** Days left at the rate of the last seven days, or of the days since the first use; null when nothing was used. */
  days_left: orNull(Type.Integer()),
  /** `low` under 20 % of the total, `critical` under 5 % or three days, `empty` at 0, `none` when never granted. */
  level: Type.Enum(['ok', 'low', 'critical', 'empty', 'none']),
})
export type BalanceOutlook = ResponseOf<typeof BalanceOutlook>

export const DayOfCalls = Type.Object({
  day,
  calls: byName(endpointNames, Type.Integer()),
  total: Type.Integer(),
  succeeded: Type.Integer(),
  /** Charged minus refunded. */
  credits: byName(apiTypes, Type.Integer()),
})
export type DayOfCalls = ResponseOf<typeof DayOfCalls>

export const CommonError = Type.Object({
  endpoint: endpointName,
  /** The code of the response; the HTTP status on the short link endpoint. */
  code: Type.Integer(),
  count: Type.Integer(),
  /** In the language of the request. */
  meaning: Type.String(),
  advice: Type.String(),
})
export type CommonError = ResponseOf<typeof CommonError>

export const Home = Type.Object({
  from: day,
  to: day,
  balances: Type.Array(BalanceOutlook),
  /** One for every day of the range. */
  days: Type.Array(DayOfCalls),
  errors: Type.Array(CommonError),
  checklist: Type.Object({
    has_key: Type.Boolean(),
    /** A call of the API; calls from the console do not count. */
    has_call: Type.Boolean(),
    /** A successful call of the API that cost credits. */
    has_success: Type.Boolean(),
    /** A call that cost credits, from the console or the API. */
    has_use: Type.Boolean(),
    has_credits: Type.Boolean(),
  }),
})
export type Home = ResponseOf<typeof Home>

export const homeResponses = {
  home: Home,
}
