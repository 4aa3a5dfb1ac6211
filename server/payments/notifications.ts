// Notifications of providers: verified, compared with the order, and confirmed by our own query before anything is granted.
import type { FastifyInstance } from 'fastify'
import { Counter } from 'prom-client'
import { bytesOf, decodeInTurn } from '../http/fastify-bodies.ts'
import type { Services } from '../services.ts'
import { alert, findMismatch } from './orders.ts'
import type { Payments } from './payments.ts'
import type { Notification, PaymentProvider } from './port.ts'
import { notifyPath } from './providers.ts'
import { sendRefundSoon } from './refund-store.ts'
import { reportFailedRefund } from './refunds.ts'
import { insertRefusal } from './refusal-store.ts'
import { querySoon } from './schedule-store.ts'
import { findOrder, findOrderByTrade, insertNewOrderEvent, lockOrder, type OrderRow } from './store.ts'

const notificationResults = ['success', 'forged', 'refused', 'again'] as const

type NotificationResult = (typeof notificationResults)[number]

/** A query may answer later than the notification was sent. */
const confirmAgainMs = 2_000

/** Registers one route for each configured provider that sends notifications; no other address exists. */
export function registerNotifications(api: FastifyInstance, services: Services, payments: Payments): void {
  const { db, log } = services
  const received = new Counter({
    name: 'tollgate_payment_notifications_total',
    help: 'Notifications of payment providers by result',
    labelNames: ['provider', 'result'],
    registers: [services.metrics],
  })

  /** Signed, but not for any order of ours. */
  async function refuseUnknown(provider: PaymentProvider, number: string): Promise<NotificationResult> {
    const known = number.slice(0, 64).replaceAll(/[^\w-]/g, '?')
    await db.write(async (tx) => {
      await insertRefusal(tx, { provider: provider.name, orderNumber: known, reason: 'unknown order' })
      await alert(tx, { number: known, provider: provider.name }, 'unknown order')
    })
    return 'refused'
  }

  async function refuse(order: OrderRow, reason: string): Promise<NotificationResult> {
    await payments.orders.refuse(order, reason)
    return 'refused'
  }

  async function handlePaid(
    provider: PaymentProvider,
    claim: Extract<Notification, { kind: 'paid' }>,
  ): Promise<NotificationResult> {
    const order = await findOrder(db, claim.number)
    if (!order) return refuseUnknown(provider, claim.number)
    if (order.provider !== provider.name) return refuse(order, `order is paid by ${order.provider}`)
    if (claim.problem !== undefined) return refuse(order, `${claim.problem} of another merchant`)
    const mismatch = findMismatch(order, claim)
    if (mismatch !== undefined) return refuse(order, mismatch)
    if (order.provider_ref !== null && claim.ref !== undefined && order.provider_ref !== claim.ref) {
      return refuse(order, 'another session')
    }
    // Settled before: a repeat.
    if (order.state !== 'pending' && order.state !== 'closed') return 'success'
    const result = await payments.orders.check({
      ...order,
      provider_ref: order.provider_ref ?? claim.ref ?? null,
    })
    if (result === 'settled') return 'success'
    await db.write((tx) => querySoon(tx, order.id, confirmAgainMs))
    if (result === 'refused') return 'refused'
    if (result === 'no_answer') {
      await db.write((tx) => insertNewOrderEvent(tx, order.id, 'notified', 'query not answered yet'))
      return 'again'
    }
    await payments.orders.refuse(order, 'the provider does not say paid')
    return 'refused'
  }

  async function handle(provider: PaymentProvider, notification: Notification): Promise<NotificationResult> {
    switch (notification.kind) {
      case 'forged':
        return 'forged'
      case 'ignored':
        return 'success'
      case 'paid':
        return handlePaid(provider, notification)
      case 'dispute': {
        const { number, tradeNumber } = notification
        const order =
          number === undefined
            ? await findOrderByTrade(db, provider.name, tradeNumber)
            : await findOrder(db, number)
        // A merchant account may serve other programs too.
        if (order?.provider !== provider.name) return 'success'
        await db.write(async (tx) => {
          await lockOrder(tx, order.id)
          if (await insertNewOrderEvent(tx, order.id, 'disputed', ''))
            await alert(tx, order, 'disputed', `${order.number} disputed`)
        })
        return 'success'
      }
      default: {
        const order = await findOrder(db, notification.number)
        if (!order || order.provider !== provider.name) return refuseUnknown(provider, notification.number)
        await db.write(async (tx) => {
          if (notification.kind === 'refund_failed') await reportFailedRefund(tx, order, notification)
          await sendRefundSoon(tx, order.id)
          if (order.state === 'pending' || order.state === 'closed') await querySoon(tx, order.id, 0)
        })
        return 'success'
      }
    }
  }

  for (const provider of payments.providers.values()) {
    const { notifications: format } = provider
    if (!format) continue
    for (const result of notificationResults) received.inc({ provider: provider.name, result }, 0)
    api.post(notifyPath(provider.name), async (request, reply) => {
      const notification = await decodeInTurn(services.http, request, bytesOf(request), (body) =>
        format.parse({ headers: request.headers, body }),
      )
      const result = await handle(provider, notification)
      received.inc({ provider: provider.name, result })
      if (result !== 'success') {
        const reason = notification.kind === 'forged' ? notification.reason : result
        log.warn(
          { requestId: request.id, provider: provider.name, reason },
          'rejected a payment notification',
        )
      }
      const { status, type, body: text } = format.answers[result]
      return reply.code(status).header('content-type', type).header('cache-control', 'no-store').send(text)
    })
  }
}
