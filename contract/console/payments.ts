// Buying credits: packages, orders, statements and invoices of an account; packages, orders, reconciliation and invoices of the operator.
import { type Static, Type } from 'typebox'
import { apiTypes } from '../credits.ts'
import {
  type InvoiceKind,
  invoiceKinds,
  type InvoiceState,
  invoiceStates,
  orderStates,
  paymentLimits,
  paymentProviders,
} from '../payments.ts'
import { day, Empty, Noted, note, positiveId, slice } from './fields.ts'
import { maxAmountLength } from './limits.ts'
import { mailAddress } from './security.ts'
import { maxGrant } from '../credits.ts'
import { route, withResponses } from './route.ts'
import type { operatorPaymentResponses, paymentResponses } from './responses/payments.ts'

const packageCode = Type.String({ minLength: 1, maxLength: paymentLimits.packageCode })

const NewOrder = Type.Object({ package: packageCode, provider: Type.Enum([...paymentProviders]) })

const keysOf = <Key extends string>(values: Readonly<Record<Key, unknown>>) => Object.keys(values) as Key[]

/** The orders are given by number; their amounts without refunds are invoiced. */
const InvoiceInput = Type.Object({
  kind: Type.Enum(keysOf<InvoiceKind>(invoiceKinds)),
  title: Type.String({ minLength: 1, maxLength: paymentLimits.invoiceTitle }),
  tax_number: Type.Optional(Type.String({ maxLength: paymentLimits.taxNumber })),
  address: Type.Optional(Type.String({ maxLength: paymentLimits.invoiceAddress })),
  mail: mailAddress,
  note: Type.Optional(Type.String({ maxLength: paymentLimits.note })),
  orders: Type.Array(Type.String({ minLength: 1, maxLength: 32 }), {
    minItems: 1,
    maxItems: paymentLimits.invoiceOrders,
  }),
})

export const paymentRoutes = withResponses<typeof paymentResponses>()({
  packages: route('GET', '/packages', Empty),
  createOrder: route('POST', '/orders', NewOrder),
  orders: route('GET', '/orders', Type.Object(slice)),
  order: route('GET', '/orders/:number', Empty),
  statements: route('GET', '/statements', Empty),
  statementCsv: route('GET', '/statements/:month/csv', Empty),
  statementXlsx: route('GET', '/statements/:month/xlsx', Empty),
  invoices: route('GET', '/invoices', Type.Object(slice)),
  invoiceableOrders: route('GET', '/invoices/orders', Empty),
  requestInvoice: route('POST', '/invoices', InvoiceInput),
  withdrawInvoice: route('POST', '/invoices/:id/withdraw', Empty),
  invoiceFile: route('GET', '/invoices/:id/file', Empty),
})

const creditAmount = Type.Optional(Type.Integer({ minimum: 1, maximum: maxGrant }))

const packageFields = {
  name: Type.String({ minLength: 1, maxLength: paymentLimits.packageName }),
  credits: Type.Object(
    Object.fromEntries(apiTypes.map((type) => [type, creditAmount])) as Record<
      (typeof apiTypes)[number],
      typeof creditAmount
    >,
  ),
  price: Type.String({ minLength: 1, maxLength: maxAmountLength }),
  currency: Type.String({ minLength: 3, maxLength: 3 }),
  hidden: Type.Boolean(),
  note,
}

/**
 * What is left out stays. `credits_before` are those that the operator saw: the change is refused when they are others by now, because
 * `credits` replaces all of them.
 */
const PackageChange = Type.Object({
  name: Type.Optional(packageFields.name),
  credits: Type.Optional(packageFields.credits),
  credits_before: Type.Optional(packageFields.credits),
  price: Type.Optional(packageFields.price),
  currency: Type.Optional(packageFields.currency),
  hidden: Type.Optional(packageFields.hidden),
  note,
})
export type PackageChange = Static<typeof PackageChange>

const OrderQuery = Type.Object({
  ...slice,
  state: Type.Optional(Type.Enum([...orderStates])),
  provider: Type.Optional(Type.Enum([...paymentProviders])),
  /** A whole order number or user name. */
  q: Type.Optional(Type.String({ maxLength: 64 })),
})

const IssueInput = Type.Object({
  /** The number on the invoice. */
  number: Type.Optional(Type.String({ maxLength: paymentLimits.invoiceNumber })),
  file_name: Type.String({ minLength: 1, maxLength: 100 }),
  /** The PDF in base64. */
  file: Type.String({ minLength: 1, maxLength: Math.ceil(paymentLimits.invoiceFile / 3) * 4 }),
  note,
})

const DifferenceQuery = Type.Object({
  ...slice,
  reconciliation: Type.Optional(positiveId),
  open: Type.Optional(Type.Boolean()),
})

export const operatorPaymentRoutes = withResponses<typeof operatorPaymentResponses>()({
  orders: route('GET', '/operator/orders', OrderQuery),
  order: route('GET', '/operator/orders/:number', Empty),
  confirmOrder: route('POST', '/operator/orders/:number/confirm', Noted),
  refundOrder: route(
    'POST',
    '/operator/orders/:number/refund',
    Type.Object({ amount: Type.String({ minLength: 1, maxLength: maxAmountLength }), note }),
  ),
  income: route('GET', '/operator/income', Empty),
  packages: route('GET', '/operator/packages', Empty),
  addPackage: route('POST', '/operator/packages', Type.Object({ code: packageCode, ...packageFields })),
  changePackage: route('POST', '/operator/packages/:code', PackageChange),
  removePackage: route('POST', '/operator/packages/:code/remove', Noted),
  reconciliations: route('GET', '/operator/payments/reconciliations', Type.Object(slice)),
  reconcile: route(
    'POST',
    '/operator/payments/reconciliations',
    Type.Object({ provider: Type.Enum([...paymentProviders]), day, note }),
  ),
  differences: route('GET', '/operator/payments/differences', DifferenceQuery),
  resolveDifference: route('POST', '/operator/payments/differences/:id/resolve', Noted),
  invoices: route(
    'GET',
    '/operator/invoices',
    Type.Object({
      ...slice,
      state: Type.Optional(Type.Enum(keysOf<InvoiceState>(invoiceStates))),
      /** Issued, then refunded, and not corrected. */
      refunded: Type.Optional(Type.Boolean()),
    }),
  ),
  issueInvoice: route('POST', '/operator/invoices/:id/issue', IssueInput),
  rejectInvoice: route('POST', '/operator/invoices/:id/reject', Noted),
  correctInvoice: route('POST', '/operator/invoices/:id/correct', Noted),
  invoiceFile: route('GET', '/operator/invoices/:id/file', Empty),
})
