// The ledger, balances over time, and redeem codes.
import { type Static, Type } from 'typebox'
import { route, withResponses } from './route.ts'
import { apiType, slice, dayRange, DayRange } from './fields.ts'
import { maxRedeemCodeLength } from './limits.ts'
import type { creditResponses } from './responses/credits.ts'
import { ledgerKind } from './values.ts'

/** The ledger note of merged old entries. */
export const compactedNote = '结转 / compacted'

/** The actions of charges that no call caused: a check of the watch list, and links of an import. */
export const watchAction = 'domain.watch'
export const importAction = 'shortlink.import'

export const LedgerFilter = Type.Object({
  ...dayRange,
  api_type: Type.Optional(apiType),
  kind: Type.Optional(ledgerKind),
})
export type LedgerFilter = Static<typeof LedgerFilter>

/** Upper or lower case, with or without dashes. */
const RedeemCode = Type.Object({ code: Type.String({ minLength: 1, maxLength: maxRedeemCodeLength }) })

export const creditRoutes = withResponses<typeof creditResponses>()({
  ledger: route('GET', '/credits/ledger', Type.Object({ ...LedgerFilter.properties, ...slice })),
  /** Everything, unless days are given. */
  ledgerCsv: route('GET', '/credits/ledger.csv', LedgerFilter),
  /** At most 366 days; the last 30 by default. */
  history: route('GET', '/credits/history', DayRange),
  previewCode: route('POST', '/redeem/preview', RedeemCode),
  redeem: route('POST', '/redeem', RedeemCode),
})
