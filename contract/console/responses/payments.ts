// Responses about packages, orders and statements.
import { Type } from 'typebox'
import { apiTypes } from '../../credits.ts'
import { orderStates, paymentProviders, refundStates } from '../../payments.ts'
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
}
