// Background work of payments: due queries of orders and refunds, each provider on its own so that a slow one delays no other.
import { hourMs, minuteMs } from '../../contract/time.ts'
import type { Services } from '../services.ts'
import type { Payments } from './payments.ts'
import type { PaymentProvider } from './port.ts'
import { hasDueRefund, leaseRefunds } from './refund-store.ts'
import { deleteOldRefusals } from './refusal-store.ts'
import { hasDueOrder, leaseOrders, planNextQuery, pullInQueries } from './schedule-store.ts'

const pollMs = 1_000
/** Orders of one provider that a process queries at the same time. */
const perTurn = 8
/** How often days that are due for reconciliation are searched. */
const reconcileMs = 5 * minuteMs

export function startPaymentJobs(services: Services, payments: Payments): void {
  const { db, jobs, log, metrics } = services
  const { leaseMs, schedule } = payments

  async function checkOrders({ name }: PaymentProvider, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await hasDueOrder(db, name))) {
      const orders = await db.write((tx) => leaseOrders(tx, name, { limit: perTurn, leaseMs }))
      if (orders.length === 0) return
      await Promise.all(
        orders.map(async (order) => {
          try {
            await payments.orders.check(order)
          } catch (error) {
            log.error({ err: error, order: order.number }, 'failed to check an order')
          } finally {
            await db.write((tx) => planNextQuery(tx, order.id, schedule, order.next_query_at))
          }
        }),
      )
    }
  }

  async function sendRefunds({ name }: PaymentProvider, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await hasDueRefund(db, name))) {
      const refunds = await db.write((tx) => leaseRefunds(tx, name, { limit: perTurn, leaseMs }))
      if (refunds.length === 0) return
      const results = await Promise.allSettled(refunds.map((refund) => payments.refunds.send(refund)))
      for (const [index, result] of results.entries()) {
        if (result.status === 'fulfilled') continue
        log.error(
          { err: result.reason as unknown, refund: refunds[index]?.number },
          'failed to send a refund',
        )
      }
    }
  }

  for (const provider of payments.providers.values()) {
    jobs.every(pollMs, `check_${provider.name}_orders`, (signal) => checkOrders(provider, signal))
    jobs.every(pollMs, `send_${provider.name}_refunds`, (signal) => sendRefunds(provider, signal))
  }
  jobs.every(minuteMs, 'pull_in_order_queries', () => db.write(pullInQueries))
  payments.reconciler.countIn(metrics)
  jobs.every(reconcileMs, 'reconcile_payments', (signal) => payments.reconciler.runDue(Date.now(), signal))
  jobs.every(hourMs, 'prune_payment_refusals', (signal) => deleteOldRefusals(db, signal))
}
