// Console routes for buying: packages and orders of an account, and the operator's packages and orders.
import { operatorPaymentRoutes, paymentRoutes } from '../../contract/console/payments.ts'
import type { Order, OrderDetail } from '../../contract/console/responses/payments.ts'
import { formatMinor, parseMinor } from '../../contract/payments.ts'
import { findByUsername } from '../accounts/store.ts'
import { findUsername } from '../audit/store.ts'
import { requireConfirmation } from '../console/confirmation.ts'
import { requireNotExpired } from '../console/call-from-console.ts'
import { readSlice } from '../console/fields.ts'
import { operatorOf } from '../console/operator-actor.ts'
import { invalidFields, notFound } from '../console/problem.ts'
import type { Api } from '../console/routes.ts'
import type { Services } from '../services.ts'
import { findIncome } from './income-store.ts'
import { addPackage, changePackage, removePackage } from './packages.ts'
import { findPackage, listPackages } from './package-store.ts'
import type { Payments } from './payments.ts'
import { listRefunds } from './refund-store.ts'
import { refundable } from './refunds.ts'
import { findItems, findOrder, listOrderEvents, listOrders, type OrderRow } from './store.ts'
import { itemsView, packageView, paymentView, refundView } from './views.ts'

const maxHistory = 500
const incomeDays = 30

/** What the confirmation of a bank transfer writes, with the note of the operator: it is for operators only. */
const confirmationEvents: ReadonlySet<string> = new Set(['paid', 'paid_late', 'granted'])

type OrderReader = 'holder' | 'operator'

export function paymentPages(api: Api, { db, config }: Services, payments: Payments): void {
  async function detailOf(order: OrderRow, reader: OrderReader): Promise<OrderDetail> {
    const { pay_url: payUrl, code_url: codeUrl } = paymentView(order)
    const refunds = await listRefunds(db, order.id)
    const events = await listOrderEvents(db, order.id, maxHistory)
    const isTransfer = order.provider === 'transfer'
    const isInternal = (event: string) => reader === 'holder' && isTransfer && confirmationEvents.has(event)
    return {
      ...orderOf(order, await findUsername(db, order.account_id)),
      pay_url: payUrl ?? null,
      code_url: codeUrl ?? null,
      transfer_details: isTransfer && order.state === 'pending' ? (config.TRANSFER_DETAILS ?? null) : null,
      credits: itemsView(await findItems(db, order.id)),
      refunds: refunds.map((refund) => {
        const { number, amount, state, credits, reason, created_at: createdAt } = refundView(refund)
        return { number, amount, state, credits, reason, created_at: createdAt }
      }),
      history: events.map(({ at, event, note }) => ({ at, event, note: isInternal(event) ? '' : note })),
    }
  }

  async function requireOrder(number: string, accountId?: number): Promise<OrderRow> {
    const order = await findOrder(db, number)
    if (!order || (accountId !== undefined && order.account_id !== accountId)) throw notFound()
    return order
  }

  api.account(paymentRoutes.packages, async () => ({
    items: (await listPackages(db)).filter(({ hidden }) => hidden === 0).map(packageView),
    providers: [...payments.providers.keys()],
  }))

  api.account(paymentRoutes.createOrder, async ({ account }, input) => {
    requireNotExpired(account)
    const actor = { kind: 'account', accountId: account.id } as const
    const wanted = { packageCode: input.package, provider: input.provider }
    return detailOf(await payments.orders.create(actor, account, wanted), 'holder')
  })

  api.account(paymentRoutes.orders, async ({ account }, input) =>
    readSlice(
      input,
      (limit) => listOrders(db, { accountId: account.id, before: input.before }, limit),
      (row) => orderOf(row, row.username),
    ),
  )

  api.account(paymentRoutes.order, async (request) =>
    detailOf(await requireOrder(request.part('number'), request.account.id), 'holder'),
  )

  api.operator(operatorPaymentRoutes.orders, async (_request, input) => {
    const q = input.q?.trim() ?? ''
    const account = q === '' ? undefined : await findByUsername(db, q)
    const search = {
      state: input.state,
      provider: input.provider,
      before: input.before,
      accountId: account?.id,
      ...(q !== '' && !account && { number: q }),
    }
    return readSlice(
      input,
      (limit) => listOrders(db, search, limit),
      (row) => orderOf(row, row.username),
    )
  })

  api.operator(operatorPaymentRoutes.order, async (request) => {
    const order = await requireOrder(request.part('number'))
    const canRefund = ['granted', 'partly_refunded', 'paid'].includes(order.state)
    const max = canRefund ? await refundable(db, order, await findItems(db, order.id)) : 0
    return { ...(await detailOf(order, 'operator')), refundable: formatMinor(max) }
  })

  api.operator(operatorPaymentRoutes.confirmOrder, async (request, input) => {
    requireConfirmation(request)
    const actor = operatorOf(request, input)
    const order = await payments.orders.confirm(actor, request.part('number'), actor.note ?? '')
    return detailOf(order, 'operator')
  })

  api.operator(operatorPaymentRoutes.refundOrder, async (request, input) => {
    requireConfirmation(request)
    const number = request.part('number')
    const amount = parseMinor(input.amount.trim())
    if (amount === undefined) {
      throw invalidFields({
        amount: { zh: '必须是金额，例如 9.99', en: 'Must be an amount, for example 9.99' },
      })
    }
    const actor = operatorOf(request, input)
    await payments.refunds.request(actor, number, { amount, note: actor.note ?? '' })
    return detailOf(await requireOrder(number), 'operator')
  })

  api.operator(operatorPaymentRoutes.income, async () => ({
    days: await findIncome(db, incomeDays, 'CNY'),
    currency: 'CNY',
  }))

  api.operator(operatorPaymentRoutes.packages, async () => ({
    items: (await listPackages(db)).map(packageView),
  }))

  async function viewPackage(code: string) {
    const row = await findPackage(db, code)
    if (!row) throw notFound()
    return packageView(row)
  }

  api.operator(operatorPaymentRoutes.addPackage, async (request, { code, ...input }) => {
    await addPackage(db, operatorOf(request, input), code, input)
    return viewPackage(code)
  })

  api.operator(operatorPaymentRoutes.changePackage, async (request, { credits_before: before, ...input }) => {
    const code = request.part('code')
    await changePackage(db, operatorOf(request, input), code, input, before)
    return viewPackage(code)
  })

  api.operator(operatorPaymentRoutes.removePackage, async (request, input) => {
    await removePackage(db, operatorOf(request, input), request.part('code'))
    return {}
  })
}

function orderOf(order: OrderRow, username: string): Order {
  return {
    id: order.id,
    number: order.number,
    account: username,
    package: order.package_code,
    package_name: order.package_name,
    state: order.state,
    amount: formatMinor(order.amount),
    refunded: formatMinor(order.refunded),
    currency: order.currency,
    provider: order.provider,
    created_at: order.created_at,
    expires_at: order.expires_at,
    paid_at: order.paid_at,
  }
}
