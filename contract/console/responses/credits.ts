// Responses of the ledger, the balances over time and the redeem codes.
import { Type } from 'typebox'
import { apiTypes } from '../../credits.ts'
import type { ResponseOf } from '../route.ts'
import { day, apiType } from '../fields.ts'
import { ledgerKind } from '../values.ts'
import { Balance } from './session.ts'
import { moment, orNull, byName, sliceOf, csvFile } from './fields.ts'

export const LedgerEntry = Type.Object({
  id: Type.Integer(),
  at: moment,
  api_type: apiType,
  kind: ledgerKind,
  /** Negative when credits were taken. */
  amount: Type.Integer(),
  balance_after: Type.Integer(),
  note: orNull(Type.String()),
  /** The first and last characters of the redeem code that granted the credits. */
  redeem_hint: orNull(Type.String()),
  operation: orNull(
    Type.Object({
      id: Type.Integer(),
      /** For example `sms.send`. */
      action: Type.String(),
      state: Type.Enum(['held', 'settled', 'refunded']),
      cost: Type.Integer(),
      given_back: Type.Integer(),
      /** The call in the request log. */
      request_id: Type.String(),
    }),
  ),
})
export type LedgerEntry = ResponseOf<typeof LedgerEntry>

const BalanceHistory = Type.Object({
  from: day,
  to: day,
  /** Balance at the end of each day. */
  days: Type.Array(
    Type.Object({
      day,
      remaining: byName(apiTypes, Type.Integer()),
    }),
  ),
})

export const RedeemPreview = Type.Object({
  api_type: apiType,
  amount: Type.Integer(),
  /** The last day on which it can be redeemed; null for no end. */
  expires_on: orNull(day),
})
export type RedeemPreview = ResponseOf<typeof RedeemPreview>

const Redeemed = Type.Object({
  api_type: apiType,
  amount: Type.Integer(),
  balance: Balance,
})

export const creditResponses = {
  ledger: sliceOf(LedgerEntry),
  ledgerCsv: csvFile,
  history: BalanceHistory,
  previewCode: RedeemPreview,
  redeem: Redeemed,
}
