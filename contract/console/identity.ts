// Identity verification: one from the console, and the masked history.
import { type Static, Type } from 'typebox'
import { dayRange, slice } from './fields.ts'
import { type CsvFile, type Moment, route, type Slice } from './route.ts'
export const identityOutcomes = ['matched', 'mismatched', 'no_record', 'failed'] as const

export type IdentityOutcome = (typeof identityOutcomes)[number]

export interface IdentityVerdict {
  readonly outcome: IdentityOutcome
  readonly message: string
  readonly extra: Readonly<Record<string, string | number>>
  readonly charged: number
  readonly given_back: number
  readonly remaining: number
  readonly request_id: string
}

export interface IdentityRecord {
  readonly id: number
  readonly at: Moment
  /** `张*` */
  readonly name: string
  /** `110105********002X` */
  readonly idcard: string
  readonly outcome: IdentityOutcome
  readonly gateway: string | null
  readonly charged: number
  readonly given_back: number
  readonly request_id: string
}

export const IdentityInput = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  idcard: Type.String({ minLength: 1, maxLength: 100 }),
})
export type IdentityInput = Static<typeof IdentityInput>

export const IdentityFilter = Type.Object({
  ...dayRange,
  outcome: Type.Optional(Type.Enum([...identityOutcomes])),
})
export type IdentityFilter = Static<typeof IdentityFilter>

export const identityRoutes = {
  /** Takes an `idempotency-key` header, so that a retry after a lost connection costs nothing. */
  verify: route('POST', '/identity/verify', IdentityInput).returns<IdentityVerdict>(),
  history: route('GET', '/identity/history', Type.Object({ ...IdentityFilter.properties, ...slice })).returns<
    Slice<IdentityRecord>
  >(),
  historyCsv: route('GET', '/identity/history.csv', IdentityFilter).returns<CsvFile>(),
} as const
