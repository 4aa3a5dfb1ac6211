// What a payment provider can do. Amounts are in minor units of the currency.
import type { IncomingHttpHeaders } from 'node:http'
import { formatMinor, type PaymentProviderName } from '../../contract/payments.ts'
import type { Tables } from '../db/schema.ts'
import type { Bill } from './bills/bill.ts'

/** An order as its provider sees it. */
export type PaymentOrder = Readonly<
  Pick<
    Tables['payment_order'],
    | 'number'
    | 'amount'
    | 'currency'
    | 'package_name'
    | 'pay_token'
    | 'provider_ref'
    | 'provider_expires_at'
    | 'sandbox_paid_at'
  >
>

export type Opened =
  | { readonly kind: 'opened'; readonly payUrl?: string; readonly codeUrl?: string; readonly ref?: string }
  /** Proven: nothing can be paid under this number. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }

/** What a provider says about an order. Everything but a signed, complete answer is `unknown`. */
export type PaymentStatus =
  | {
      readonly kind: 'paid'
      readonly number: string
      readonly amount: number
      readonly currency: string
      readonly tradeNumber: string
      /** For later queries. */
      readonly ref?: string
    }
  | { readonly kind: 'unpaid' }
  /** Can no longer be paid, and was not paid. */
  | { readonly kind: 'closed' }
  /** Paid and refunded at the provider, not by us; or another merchant's. An operator decides. */
  | { readonly kind: 'contradiction'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }

export interface RefundRequest {
  readonly order: PaymentOrder & { readonly trade_number: string | null }
  /** The same number is refunded once. */
  readonly number: string
  readonly amount: number
  /** The provider's id, when it is known. */
  readonly ref: string | null
  /** Whether the provider may have been asked before. */
  readonly isRepeat: boolean
  /** Milliseconds since the attempt before this one ended, as far as we know: it may have reached the provider. */
  readonly sinceLastMs: number
  /** Milliseconds since the order was created. No refund of it is older. */
  readonly orderAgeMs: number
}

export type RefundResult =
  | { readonly kind: 'succeeded'; readonly ref?: string }
  /** Accepted; the money is not refunded yet. */
  | {
      readonly kind: 'pending'
      readonly reason: string
      readonly ref?: string
      /** The provider waits for an operator, who settles it there. */
      readonly isStopped?: boolean
    }
  /** Proven: this refund moved no money and will move none. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }

/**
 * A failure when the provider has another amount under the number of a refund; undefined when it is the same or not given. After a
 * restore the numbers of an order begin again, so the provider may have a refund with this number that the backup does not have.
 */
export function otherRefund(
  refunded: unknown,
  amount: number,
): Extract<RefundResult, { kind: 'failed' }> | undefined {
  if (typeof refunded !== 'number' || refunded === amount) return undefined
  return { kind: 'failed', reason: `another_amount ${formatMinor(refunded)}` }
}

/** What a notification claims, after its signature was verified. */
export type Notification =
  | { readonly kind: 'forged'; readonly reason: string }
  | {
      readonly kind: 'paid'
      readonly number: string
      readonly amount: number
      readonly currency: string
      readonly ref?: string
      /** Why it is not for this merchant. */
      readonly problem?: string
    }
  /** The state of the order or of a refund may have changed. */
  | { readonly kind: 'changed'; readonly number: string }
  /** A refund failed; its money is back at the merchant. It may have succeeded before. */
  | {
      readonly kind: 'refund_failed'
      readonly number: string
      readonly refund: string
      readonly reason: string
    }
  /** The payer disputes a payment. Without a number the order is found by the provider's number of the payment. */
  | { readonly kind: 'dispute'; readonly number: string | undefined; readonly tradeNumber: string }
  | { readonly kind: 'ignored' }

export interface NotificationAnswer {
  readonly status: number
  readonly body: string
  readonly type: string
}

export interface NotificationFormat {
  parse(request: { readonly headers: IncomingHttpHeaders; readonly body: Buffer }): Notification
  readonly answers: Readonly<Record<'success' | 'forged' | 'refused' | 'again', NotificationAnswer>>
}

export interface PaymentProvider {
  readonly name: PaymentProviderName
  /** Undefined: every currency of a package. */
  readonly currency?: string
  /** Shortest and longest time that the provider lets a payment wait. */
  readonly waitMs?: { readonly min: number; readonly max: number }
  open(order: PaymentOrder): Promise<Opened>
  query(order: PaymentOrder): Promise<PaymentStatus>
  /** Asks that the order cannot be paid any more. What became of it is known from the next query. */
  close(order: PaymentOrder): Promise<void>
  refund(request: RefundRequest): Promise<RefundResult>
  readonly notifications?: NotificationFormat
  /** What the provider received and refunded on a day, `2026-01-02` in Shanghai. */
  fetchBill?(day: string): Promise<Bill>
}

export interface ProviderAddresses {
  /** Where the provider sends notifications. */
  readonly notifyUrl: () => string
  /** Where the provider returns the payer to. */
  readonly returnUrl: (number: string) => string
  /** The sandbox cashier. */
  readonly cashierUrl: (token: string) => string
}

/** A reason that may be stored and shown: a vendor's code or a fixed word. */
export function storableReason(text: unknown, fallback = 'no_reason'): string {
  return typeof text === 'string' && /^[\w.:/ -]{1,80}$/.test(text) ? text : fallback
}
