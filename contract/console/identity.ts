// Identity verification in the console: one by hand, and the masked history.
import { type DayRange, type File, type Moment, route, type Slice, type SliceQuery } from './route.ts'

export type IdentityOutcome = 'matched' | 'mismatched' | 'no_record' | 'failed'

export interface IdentityWish {
  readonly name: string
  readonly idcard: string
}

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

export interface IdentityFilter extends DayRange {
  readonly outcome?: IdentityOutcome
}

export const identityRoutes = {
  /** Send an `idempotency-key` header: a repeat after a lost connection then costs nothing. */
  verify: route<IdentityWish, IdentityVerdict>('POST', '/identity/verify'),
  history: route<IdentityFilter & SliceQuery, Slice<IdentityRecord>>('GET', '/identity/history'),
  historyCsv: route<IdentityFilter, File>('GET', '/identity/history.csv'),
} as const
