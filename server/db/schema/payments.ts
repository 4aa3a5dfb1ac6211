// The tables of packages, orders, refunds, reconciliation, statements and invoices.
import type { ApiType } from '../../../contract/credits.ts'
import type {
  InvoiceKind,
  OrderState,
  PaymentDifferenceKind,
  PaymentProviderName,
  RefundState,
} from '../../../contract/payments.ts'
import type { CalendarDay, Flag, Json, Milliseconds } from './columns.ts'

export interface PaymentTables {
  credit_package: CreditPackageTable
  payment_order: PaymentOrderTable
  payment_order_item: PaymentOrderItemTable
  payment_order_event: PaymentOrderEventTable
  payment_refund: PaymentRefundTable
  payment_refusal: PaymentRefusalTable
  payment_reconciliation: PaymentReconciliationTable
  payment_difference: PaymentDifferenceTable
  statement: StatementTable
  invoice: InvoiceTable
  invoice_order: InvoiceOrderTable
}

/** In the smallest unit of the currency, for example fen. */
type Minor = number

interface CreditPackageTable {
  id: number
  code: string
  name: string
  /** `{"sms":1000}` */
  credits: Json
  price: Minor
  currency: string
  hidden: Flag
  created_at: Milliseconds
}

interface PaymentOrderTable {
  id: number
  number: string
  account_id: number
  package_code: string
  package_name: string
  amount: Minor
  currency: string
  provider: PaymentProviderName
  state: OrderState
  /** The unguessable part of the sandbox cashier's URL. */
  pay_token: string
  pay_url: string | null
  code_url: string | null
  /** What the provider's queries need besides the number: Stripe's session. */
  provider_ref: string | null
  /** The provider's number of the payment. */
  trade_number: string | null
  sandbox_paid_at: Milliseconds | null
  /** Sum of the refunds that did not fail. */
  refunded: Minor
  created_at: Milliseconds
  expires_at: Milliseconds
  /** Until when the provider accepts a payment. */
  provider_expires_at: Milliseconds
  paid_at: Milliseconds | null
  granted_at: Milliseconds | null
  closed_at: Milliseconds | null
  /** Null: no query is planned. */
  next_query_at: Milliseconds | null
  lease_until: Milliseconds
  /** The day of the provider's bill that has the payment. */
  bill_day: CalendarDay | null
}

interface PaymentOrderItemTable {
  order_id: number
  api_type: ApiType
  amount: number
  /** Credits that refunds took back. */
  taken: number
}

interface PaymentOrderEventTable {
  id: number
  order_id: number
  at: Milliseconds
  event: string
  note: string
}

interface PaymentRefundTable {
  id: number
  order_id: number
  provider: PaymentProviderName
  /** The number that the provider knows. */
  number: string
  amount: Minor
  /** What was taken back: `{"sms":51}`. */
  credits: Json
  state: RefundState
  note: string
  requested_by: string
  /** The provider's id of the refund. */
  provider_ref: string | null
  attempts: number
  last_reason: string | null
  created_at: Milliseconds
  ended_at: Milliseconds | null
  next_attempt_at: Milliseconds | null
  lease_until: Milliseconds
  bill_day: CalendarDay | null
}

interface PaymentRefusalTable {
  id: number
  at: Milliseconds
  provider: PaymentProviderName
  order_number: string
  reason: string
}

interface PaymentReconciliationTable {
  id: number
  provider: PaymentProviderName
  day: CalendarDay
  state: 'running' | 'done'
  /** What we recorded as paid that day. */
  orders: number
  amount: Minor
  refunds: number
  refund_amount: Minor
  /** What the bill of that day has. */
  their_orders: number
  their_amount: Minor
  their_refunds: number
  their_refund_amount: Minor
  /** Both sides by currency; null on days that an older version reconciled. */
  sums: Json | null
  differences: number
  /** Orders up to this one were looked for in the bill. */
  last_order_id: number
  at: Milliseconds
  lease_until: Milliseconds
  attempts: number
  next_attempt_at: Milliseconds | null
  last_reason: string | null
}

interface PaymentDifferenceTable {
  id: number
  reconciliation_id: number
  order_number: string
  kind: PaymentDifferenceKind
  ours: string
  theirs: string
  at: Milliseconds
  resolved_at: Milliseconds | null
  resolved_by: string | null
  resolution: string
}

interface StatementTable {
  id: number
  account_id: number
  /** `2026-01` */
  month: string
  content: Json
  digest: string
  signature: string
  created_at: Milliseconds
}

interface InvoiceTable {
  id: number
  account_id: number
  title: string
  tax_number: string
  address: string
  mail: string
  amount: Minor
  currency: string
  note: string
  kind: InvoiceKind
  state: 'open' | 'issued' | 'rejected'
  /** 1: `rejected` by its holder. */
  withdrawn: number
  reason: string
  /** The number on the invoice. */
  number: string
  file_name: string | null
  /** The PDF in base64. */
  file: string | null
  created_at: Milliseconds
  ended_at: Milliseconds | null
  /** What is left of an issued invoice that was corrected after a refund. */
  corrected_amount: Minor | null
}

interface InvoiceOrderTable {
  order_id: number
  invoice_id: number
}
