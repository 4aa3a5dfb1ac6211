// Responses about packages, orders, statements, invoices and reconciliation.
import { Type } from 'typebox'
import { apiTypes } from '../../credits.ts'
import {
  type InvoiceKind,
  invoiceKinds,
  type InvoiceState,
  invoiceStates,
  orderStates,
  type PaymentDifferenceKind,
  paymentDifferenceKinds,
  paymentProviders,
  refundStates,
} from '../../payments.ts'
import type { ResponseOf } from '../route.ts'
import { csvFile, extend, listOf, moment, orNull, sliceOf } from './fields.ts'

const credits = Type.Object(
  Object.fromEntries(apiTypes.map((type) => [type, Type.Optional(Type.Integer())])) as Record<
    (typeof apiTypes)[number],
    ReturnType<typeof optionalInteger>
  >,
)

function optionalInteger() {
  return Type.Optional(Type.Integer())
}

const creditPackage = Type.Object({
  code: Type.String(),
  name: Type.String(),
  credits,
  /** With two decimals. */
  price: Type.String(),
  currency: Type.String(),
  hidden: Type.Boolean(),
})
export type CreditPackage = ResponseOf<typeof creditPackage>

const order = Type.Object({
  id: Type.Integer(),
  number: Type.String(),
  account: Type.String(),
  package: Type.String(),
  package_name: Type.String(),
  state: Type.Enum([...orderStates]),
  amount: Type.String(),
  refunded: Type.String(),
  currency: Type.String(),
  provider: Type.Enum([...paymentProviders]),
  created_at: moment,
  expires_at: moment,
  paid_at: orNull(moment),
})
export type Order = ResponseOf<typeof order>

const orderDetail = extend(order, {
  /** While the order can be paid. */
  pay_url: orNull(Type.String()),
  code_url: orNull(Type.String()),
  transfer_details: orNull(Type.String()),
  credits,
  refunds: Type.Array(
    Type.Object({
      number: Type.String(),
      amount: Type.String(),
      state: Type.Enum([...refundStates]),
      credits,
      reason: orNull(Type.String()),
      created_at: Type.String(),
    }),
  ),
  history: Type.Array(Type.Object({ at: moment, event: Type.String(), note: Type.String() })),
})
export type OrderDetail = ResponseOf<typeof orderDetail>

const statement = Type.Object({
  month: Type.String(),
  is_final: Type.Boolean(),
  digest: Type.String(),
  rows: Type.Array(
    Type.Object({
      api_type: Type.Enum([...apiTypes]),
      opening: Type.Integer(),
      bought: Type.Integer(),
      used: Type.Integer(),
      refunded: Type.Integer(),
      adjusted: Type.Integer(),
      closing: Type.Integer(),
    }),
  ),
})
export type Statement = ResponseOf<typeof statement>

const keysOf = <Key extends string>(values: Readonly<Record<Key, unknown>>) => Object.keys(values) as Key[]

const invoice = Type.Object({
  id: Type.Integer(),
  account: Type.String(),
  kind: Type.Enum(keysOf<InvoiceKind>(invoiceKinds)),
  state: Type.Enum(keysOf<InvoiceState>(invoiceStates)),
  title: Type.String(),
  tax_number: Type.String(),
  address: Type.String(),
  mail: Type.String(),
  note: Type.String(),
  amount: Type.String(),
  currency: Type.String(),
  /** What its orders are worth now, without refunds; null once it is rejected or withdrawn. */
  current_amount: orNull(Type.String()),
  /** Issued for more than its orders are worth now: an operator has to correct it. */
  refunded_after_issue: Type.Boolean(),
  /** What is left of it after the last correction. */
  corrected_amount: orNull(Type.String()),
  /** Numbers of the orders; none once it is rejected or withdrawn. */
  orders: Type.Array(Type.String()),
  /** The number on the invoice. */
  number: Type.String(),
  reason: Type.String(),
  has_file: Type.Boolean(),
  created_at: moment,
  ended_at: orNull(moment),
})
export type Invoice = ResponseOf<typeof invoice>

const invoiceableOrder = Type.Object({
  number: Type.String(),
  package_name: Type.String(),
  /** Without refunds. */
  amount: Type.String(),
  currency: Type.String(),
  paid_at: moment,
})
export type InvoiceableOrder = ResponseOf<typeof invoiceableOrder>

const reconciliationSide = Type.Object({
  orders: Type.Integer(),
  refunds: Type.Integer(),
  /** Null where a provider takes several currencies. */
  amount: orNull(Type.String()),
  refund_amount: orNull(Type.String()),
  /** By currency; none on days that an older version reconciled. */
  sums: Type.Array(
    Type.Object({ currency: Type.String(), amount: Type.String(), refund_amount: Type.String() }),
  ),
})

const reconciliation = Type.Object({
  id: Type.Integer(),
  provider: Type.Enum([...paymentProviders]),
  day: Type.String(),
  state: Type.Enum(['running', 'done']),
  ours: reconciliationSide,
  theirs: reconciliationSide,
  differences: Type.Integer(),
  /** Differences that are not resolved yet. */
  open: Type.Integer(),
  /** Why the last attempt failed. */
  reason: orNull(Type.String()),
  attempts: Type.Integer(),
  at: moment,
  next_attempt_at: orNull(moment),
})
export type Reconciliation = ResponseOf<typeof reconciliation>

const difference = Type.Object({
  id: Type.Integer(),
  provider: Type.Enum([...paymentProviders]),
  day: Type.String(),
  order_number: Type.String(),
  kind: Type.Enum(keysOf<PaymentDifferenceKind>(paymentDifferenceKinds)),
  ours: Type.String(),
  theirs: Type.String(),
  at: moment,
  resolved_at: orNull(moment),
  resolved_by: orNull(Type.String()),
  resolution: Type.String(),
})
export type PaymentDifference = ResponseOf<typeof difference>

export const paymentResponses = {
  packages: Type.Object({
    items: Type.Array(creditPackage),
    providers: Type.Array(Type.Enum([...paymentProviders])),
  }),
  createOrder: orderDetail,
  orders: sliceOf(order),
  order: orderDetail,
  statements: listOf(statement),
  statementCsv: csvFile,
  statementXlsx: csvFile,
  invoices: sliceOf(invoice),
  invoiceableOrders: listOf(invoiceableOrder),
  requestInvoice: invoice,
  withdrawInvoice: invoice,
  invoiceFile: csvFile,
}

export const operatorPaymentResponses = {
  orders: sliceOf(order),
  order: extend(orderDetail, { refundable: Type.String() }),
  confirmOrder: orderDetail,
  refundOrder: orderDetail,
  income: Type.Object({
    days: Type.Array(
      Type.Object({
        day: Type.String(),
        paid: Type.Number(),
        refunded: Type.Number(),
        orders: Type.Integer(),
      }),
    ),
    currency: Type.String(),
  }),
  packages: listOf(creditPackage),
  addPackage: creditPackage,
  changePackage: creditPackage,
  removePackage: Type.Object({}),
  reconciliations: extend(sliceOf(reconciliation), {
    /** The payment methods whose bills can be downloaded. */
    providers: Type.Array(Type.Enum([...paymentProviders])),
  }),
  reconcile: Type.Object({
    result: Type.Enum(['done', 'postponed', 'busy']),
    reason: orNull(Type.String()),
    differences: Type.Integer(),
  }),
  differences: sliceOf(difference),
  resolveDifference: difference,
  invoices: sliceOf(invoice),
  issueInvoice: invoice,
  rejectInvoice: invoice,
  correctInvoice: invoice,
  invoiceFile: csvFile,
}
