// A provider's bill of one day, as reconciliation reads it.

export interface BillRow {
  readonly kind: 'payment' | 'refund'
  readonly orderNumber: string
  /** The provider's number of the payment. */
  readonly tradeNumber: string
  /** Ours; empty for payments, and for refunds that we did not request. */
  readonly refundNumber: string
  /** In minor units; -1 when the bill cannot be read there. */
  readonly amount: number
  readonly currency: string
}

export type Bill =
  | { readonly kind: 'rows'; readonly rows: AsyncIterable<BillRow> }
  /** The provider says that it has none: nothing was paid, or it is not made yet. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown'; readonly reason: string }

/** Thrown while the rows are read: the bill cannot be used. */
export class BillProblem extends Error {}

/** A compressed bill is kept in memory; 32 MB are more than a million payments. */
export const maxBillBytes = 32 * 1024 * 1024

/** A bill may take longer than an ordinary call. */
export const downloadTimeouts = 12
