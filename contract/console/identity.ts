// Identity verification: one from the console, and the masked history.
import { type Static, Type } from 'typebox'
import { dayRange, slice } from './fields.ts'
import type { identityResponses } from './responses/identity.ts'
import { route, withResponses } from './route.ts'
import { identityOutcome } from './values.ts'

export const IdentityInput = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  idcard: Type.String({ minLength: 1, maxLength: 100 }),
})
export type IdentityInput = Static<typeof IdentityInput>

export const IdentityFilter = Type.Object({
  ...dayRange,
  outcome: Type.Optional(identityOutcome),
})
export type IdentityFilter = Static<typeof IdentityFilter>

export const identityRoutes = withResponses<typeof identityResponses>()({
  /** Takes an `idempotency-key` header, so that a retry after a lost connection costs nothing. */
  verify: route('POST', '/identity/verify', IdentityInput),
  history: route('GET', '/identity/history', Type.Object({ ...IdentityFilter.properties, ...slice })),
  historyCsv: route('GET', '/identity/history.csv', IdentityFilter),
})
