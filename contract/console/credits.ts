// The ledger as its owner reads it, balances over time, and redeeming a code.
import type { ApiType } from '../credits.ts'
import {
  type Day,
  type DayRange,
  type File,
  type Moment,
  route,
  type Slice,
  type SliceQuery,
} from './route.ts'
import type { Balance } from './session.ts'

export const ledgerKinds = ['grant', 'adjust', 'charge', 'refund'] as const

export type LedgerKind = (typeof ledgerKinds)[number]

/** How the note of credits from a code begins; the rest is what may be shown of the code. */
export const redeemNote = '兑换码 '

export interface LedgerFilter extends DayRange {
  readonly api_type?: ApiType
  readonly kind?: LedgerKind
}

export interface LedgerEntry {
  readonly id: number
  readonly at: Moment
  readonly api_type: ApiType
  readonly kind: LedgerKind
  /** Negative when credits went. */
  readonly amount: number
  readonly balance_after: number
  readonly note: string | null
  readonly operation: {
    readonly id: number
    /** `sms.send` for instance. */
    readonly action: string
    readonly state: 'held' | 'settled' | 'refunded'
    readonly cost: number
    readonly given_back: number
    /** Opens the call in the inspector. */
    readonly request_id: string
  } | null
}

export interface BalanceHistory {
  readonly from: Day
  readonly to: Day
  /** Balance at the end of each day. */
  readonly days: readonly { readonly day: Day; readonly remaining: Readonly<Record<ApiType, number>> }[]
}

export interface RedeemCode {
  /** Upper or lower case, with or without the dashes. */
  readonly code: string
}

export interface RedeemPreview {
  readonly api_type: ApiType
  readonly amount: number
  /** Last day on which it can be taken; null: no end. */
  readonly expires_on: Day | null
}

export interface Redeemed {
  readonly api_type: ApiType
  readonly amount: number
  readonly balance: Balance
}

export const creditRoutes = {
  ledger: route<LedgerFilter & SliceQuery, Slice<LedgerEntry>>('GET', '/credits/ledger'),
  /** At most 366 days; the last 31 when no range is given. */
  ledgerCsv: route<LedgerFilter, File>('GET', '/credits/ledger.csv'),
  /** At most 366 days; the last 30 when no range is given. */
  history: route<DayRange, BalanceHistory>('GET', '/credits/history'),
  previewCode: route<RedeemCode, RedeemPreview>('POST', '/redeem/preview'),
  redeem: route<RedeemCode, Redeemed>('POST', '/redeem'),
} as const
