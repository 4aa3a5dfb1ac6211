// The ledger, balances over time, and redeem codes.
import { type Static, Type } from 'typebox'
import { apiType, DayRange, dayRange, slice } from './fields.ts'
import { type CsvFile, type Day, type Moment, route, type Slice } from './route.ts'
import type { ApiType } from '../credits.ts'
import type { Balance } from './session.ts'

export const ledgerKinds = ['grant', 'adjust', 'charge', 'refund'] as const

export type LedgerKind = (typeof ledgerKinds)[number]

/** The ledger note of credits from a redeem code: this prefix and the hint of the code. */
export const redeemNote = '兑换码 '

export interface LedgerEntry {
  readonly id: number
  readonly at: Moment
  readonly api_type: ApiType
  readonly kind: LedgerKind
  /** Negative when credits were taken. */
  readonly amount: number
  readonly balance_after: number
  readonly note: string | null
  readonly operation: {
    readonly id: number
    /** For example `sms.send`. */
    readonly action: string
    readonly state: 'held' | 'settled' | 'refunded'
    readonly cost: number
    readonly given_back: number
    /** The call in the request log. */
    readonly request_id: string
  } | null
}

export interface BalanceHistory {
  readonly from: Day
  readonly to: Day
  /** Balance at the end of each day. */
  readonly days: readonly { readonly day: Day; readonly remaining: Readonly<Record<ApiType, number>> }[]
}

export interface RedeemPreview {
  readonly api_type: ApiType
  readonly amount: number
  /** The last day on which it can be redeemed; null for no end. */
  readonly expires_on: Day | null
}

export interface Redeemed {
  readonly api_type: ApiType
  readonly amount: number
  readonly balance: Balance
}

export const LedgerFilter = Type.Object({
  ...dayRange,
  api_type: Type.Optional(apiType),
  kind: Type.Optional(Type.Enum([...ledgerKinds] as [LedgerKind, ...LedgerKind[]])),
})
export type LedgerFilter = Static<typeof LedgerFilter>

/** Upper or lower case, with or without dashes. */
const RedeemCode = Type.Object({ code: Type.String({ minLength: 1, maxLength: 200 }) })

export const creditRoutes = {
  ledger: route('GET', '/credits/ledger', Type.Object({ ...LedgerFilter.properties, ...slice })).returns<
    Slice<LedgerEntry>
  >(),
  /** At most 366 days; the last 31 by default. */
  ledgerCsv: route('GET', '/credits/ledger.csv', LedgerFilter).returns<CsvFile>(),
  /** At most 366 days; the last 30 by default. */
  history: route('GET', '/credits/history', DayRange).returns<BalanceHistory>(),
  previewCode: route('POST', '/redeem/preview', RedeemCode).returns<RedeemPreview>(),
  redeem: route('POST', '/redeem', RedeemCode).returns<Redeemed>(),
} as const
