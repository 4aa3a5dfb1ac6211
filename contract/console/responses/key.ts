// Responses about the API key.
import { Type } from 'typebox'
import type { ResponseOf } from '../route.ts'
import { apiType, Empty } from '../fields.ts'
import { extend, moment, orNull } from './fields.ts'

export const KeyState = Type.Object({
  hint: orNull(Type.String()),
  created_at: orNull(moment),
  /** Calls with the key in the last 24 hours, which a reset would break. */
  calls_24h: Type.Integer(),
  last_call_at: orNull(moment),
})
export type KeyState = ResponseOf<typeof KeyState>

const usage = Type.Object({
  api_type: apiType,
  /** Null: no cap. */
  daily_cap: orNull(Type.Integer()),
  monthly_cap: orNull(Type.Integer()),
  used_today: Type.Integer(),
  used_this_month: Type.Integer(),
})

export const KeyLimits = Type.Object({
  /** Null: all. */
  scopes: orNull(Type.Array(Type.String())),
  /** Null: any address. */
  allow_ips: orNull(Type.Array(Type.String())),
  usage: Type.Array(usage),
})
export type KeyLimits = ResponseOf<typeof KeyLimits>

const NewKey = Type.Object({
  api_key: Type.String(),
  hint: Type.String(),
})

export const keyResponses = {
  state: KeyState,
  generate: NewKey,
  reset: NewKey,
  clear: Empty,
  limits: extend(KeyLimits, {
    /** The address of this request. */
    address: Type.String(),
  }),
  changeLimits: KeyLimits,
}
