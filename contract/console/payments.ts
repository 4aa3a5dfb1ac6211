// Buying credits: packages, orders and statements of an account; packages and orders of the operator.
import { Type } from 'typebox'
import { apiTypes } from '../credits.ts'
import { orderStates, paymentLimits, paymentProviders } from '../payments.ts'
import { Empty, Noted, note, slice } from './fields.ts'
import { maxGrant } from '../credits.ts'
import { route, withResponses } from './route.ts'
import type { operatorPaymentResponses, paymentResponses } from './responses/payments.ts'

const packageCode = Type.String({ minLength: 1, maxLength: paymentLimits.packageCode })

const NewOrder = Type.Object({ package: packageCode, provider: Type.Enum([...paymentProviders]) })

export const paymentRoutes = withResponses<typeof paymentResponses>()({
  packages: route('GET', '/packages', Empty),
  createOrder: route('POST', '/orders', NewOrder),
  orders: route('GET', '/orders', Type.Object(slice)),
  order: route('GET', '/orders/:number', Empty),
  statements: route('GET', '/statements', Empty),
  statementCsv: route('GET', '/statements/:month/csv', Empty),
  statementXlsx: route('GET', '/statements/:month/xlsx', Empty),
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
  price: Type.String({ minLength: 1, maxLength: 16 }),
  currency: Type.String({ minLength: 3, maxLength: 3 }),
  hidden: Type.Boolean(),
  note,
}

const OrderQuery = Type.Object({
  ...slice,
  state: Type.Optional(Type.Enum([...orderStates])),
  provider: Type.Optional(Type.Enum([...paymentProviders])),
  /** A whole order number or user name. */
  q: Type.Optional(Type.String({ maxLength: 64 })),
})

export const operatorPaymentRoutes = withResponses<typeof operatorPaymentResponses>()({
  orders: route('GET', '/operator/orders', OrderQuery),
  order: route('GET', '/operator/orders/:number', Empty),
  confirmOrder: route('POST', '/operator/orders/:number/confirm', Noted),
  refundOrder: route(
    'POST',
    '/operator/orders/:number/refund',
    Type.Object({ amount: Type.String({ minLength: 1, maxLength: 16 }), note }),
  ),
  income: route('GET', '/operator/income', Empty),
  packages: route('GET', '/operator/packages', Empty),
  addPackage: route('POST', '/operator/packages', Type.Object({ code: packageCode, ...packageFields })),
  changePackage: route('POST', '/operator/packages/:code', Type.Object(packageFields)),
  removePackage: route('POST', '/operator/packages/:code/remove', Noted),
})
