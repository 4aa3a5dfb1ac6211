// The API key. The whole key is in the response that creates it, and nowhere else.
import { type TInteger, type TOptional, Type } from 'typebox'
import { type ApiType, apiTypes, maxGrant } from '../credits.ts'
import { route, withResponses } from './route.ts'
import { password, Empty } from './fields.ts'
import type { keyResponses } from './responses/key.ts'

/** Without the password, the user must have confirmed who they are. */
const WithPassword = Type.Object({ password: Type.Optional(password) })

const caps = Type.Union([
  Type.Object(
    Object.fromEntries(
      apiTypes.map((type) => [type, Type.Optional(Type.Integer({ minimum: 0, maximum: maxGrant }))]),
    ) as Record<ApiType, TOptional<TInteger>>,
  ),
  Type.Null(),
])

/** A field that is left out does not change; null removes the limit. */
export const keyLimitFields = {
  scopes: Type.Optional(
    Type.Union([Type.Array(Type.String({ maxLength: 50 }), { maxItems: 20 }), Type.Null()]),
  ),
  allow_ips: Type.Optional(
    Type.Union([Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1_000 }), Type.Null()]),
  ),
  daily_cap: Type.Optional(caps),
  monthly_cap: Type.Optional(caps),
}

const KeyLimitsChange = Type.Object({
  ...keyLimitFields,
  excludes_own_address: Type.Optional(Type.Boolean()),
})

export const keyRoutes = withResponses<typeof keyResponses>()({
  state: route('GET', '/key', Empty),
  /** `conflict` when the account has a key. */
  generate: route('POST', '/key', Empty),
  reset: route('POST', '/key/reset', WithPassword),
  clear: route('POST', '/key/clear', WithPassword),
  limits: route('GET', '/key/limits', Empty),
  /** `conflict` when the address of this request is not on the new list, unless `excludes_own_address` says so. */
  changeLimits: route('PUT', '/key/limits', KeyLimitsChange),
})
