// When orders are queried: due orders are leased by the database's clock, so that one process queries an order at a time.
import type { PaymentProviderName } from '../../contract/payments.ts'
import { dayMs, hourMs, minuteMs } from '../../contract/time.ts'
import type { Queries, Tx } from '../db/database.ts'
import { isReached } from '../db/reached.ts'
import type { OrderRow } from './store.ts'

/** Longer than any process may work on an order or a refund, with every `GATEWAY_TIMEOUT_MS`. */
export const maxLeaseMs = 20 * minuteMs

/** Whether an order is due; a read, because it is asked every second. */
export async function hasDueOrder(queries: Queries, provider: PaymentProviderName): Promise<boolean> {
  const row = await queries.one(
    `SELECT 1 AS found FROM payment_order WHERE provider = ? AND next_query_at IS NOT NULL
       AND next_query_at <= ${queries.now} AND ${isReached(queries, 'lease_until', maxLeaseMs)} LIMIT 1`,
    [provider],
  )
  return row !== undefined
}

export function leaseOrders(
  tx: Tx,
  provider: PaymentProviderName,
  { limit, leaseMs }: { readonly limit: number; readonly leaseMs: number },
): Promise<OrderRow[]> {
  return tx.all<OrderRow>(
    `UPDATE payment_order SET lease_until = ${tx.now} + ${leaseMs} WHERE id IN (SELECT id FROM payment_order
         WHERE provider = ? AND next_query_at IS NOT NULL AND next_query_at <= ${tx.now} AND ${isReached(tx, 'lease_until', maxLeaseMs)}
         ORDER BY next_query_at LIMIT ${limit})
       AND ${isReached(tx, 'lease_until', maxLeaseMs)} RETURNING *`,
    [provider],
  )
}

type Timed = Pick<OrderRow, 'state' | 'created_at' | 'expires_at' | 'provider_expires_at' | 'closed_at'>

/** The longest time until the next query, whatever the times of the order are. */
function maxWaitMs({ state, created_at, provider_expires_at }: Timed): number {
  return Math.max(state === 'pending' ? 6 * hourMs : dayMs, provider_expires_at - created_at + minuteMs)
}

/** Queries that are due later than that are from before the clock was set back: they are due now. */
export function pullInQueries(tx: Tx): Promise<number> {
  const isLater = (than: string | number) => `next_query_at > (SELECT ${tx.now}) + ${than}`
  return tx.run(
    `UPDATE payment_order SET next_query_at = ${tx.now} WHERE next_query_at IS NOT NULL
       AND ${isLater(`CASE WHEN state = 'pending' THEN ${6 * hourMs} ELSE ${dayMs} END`)}
       AND ${isLater(`provider_expires_at - created_at + ${minuteMs}`)}`,
  )
}

/** When the order is queried next; null when it needs no query any more. */
export function nextQueryAt(order: Timed, now: number, schedule: readonly number[]): number | null {
  const planned = plannedQueryAt(order, now, schedule)
  return planned === null ? null : Math.min(planned, now + maxWaitMs(order))
}

function plannedQueryAt(order: Timed, now: number, schedule: readonly number[]): number | null {
  if (order.state === 'pending') {
    const planned = [...schedule.map((seconds) => order.created_at + seconds * 1000), order.expires_at]
    const next = planned.find((time) => time > now && time <= order.expires_at)
    // Past its expiry it was not closed because the provider did not answer, or because an operator must decide.
    const overdueMs = now - order.expires_at
    return next ?? now + Math.min(6 * hourMs, Math.max(30_000, overdueMs / 2))
  }
  if (order.state !== 'closed' || order.closed_at === null) return null
  // A payment can still come until the provider's own expiry, and its notification can be lost.
  const late = [order.provider_expires_at + minuteMs, order.closed_at + hourMs, order.closed_at + dayMs]
  return late.sort((a, b) => a - b).find((time) => time > now) ?? null
}

/**
 * Ends the lease and plans the next query, by the state that the order has now. `leasedFor` is the query that was made; one
 * that a notification requested meanwhile stays.
 */
export async function planNextQuery(
  tx: Tx,
  orderId: number,
  schedule: readonly number[],
  leasedFor?: number | null,
): Promise<void> {
  const row = await tx.one<Timed & Pick<OrderRow, 'next_query_at'> & { now: number }>(
    `SELECT state, created_at, expires_at, provider_expires_at, closed_at, next_query_at, ${tx.now} AS now
     FROM payment_order WHERE id = ?`,
    [orderId],
  )
  if (!row) return
  const planned = nextQueryAt(row, row.now, schedule)
  const requested = row.next_query_at
  const isNew = requested !== null && leasedFor !== undefined && requested !== leasedFor
  const next = planned !== null && isNew ? Math.min(planned, requested) : planned
  await tx.run('UPDATE payment_order SET lease_until = 0, next_query_at = ? WHERE id = ?', [
    next === null ? null : Math.ceil(next),
    orderId,
  ])
}

/** Soon, because a notification came that could not be confirmed yet. The query that is running may have been answered before it. */
export async function querySoon(tx: Tx, orderId: number, waitMs: number): Promise<void> {
  await tx.run(
    `UPDATE payment_order SET next_query_at = ${tx.now} + ${waitMs}
     WHERE id = ? AND (next_query_at IS NULL OR next_query_at > ${tx.now} + ${waitMs} OR lease_until > ${tx.now})`,
    [orderId],
  )
}

export async function isPastExpiry(queries: Queries, orderId: number): Promise<boolean> {
  const row = await queries.one(
    `SELECT 1 AS found FROM payment_order WHERE id = ? AND expires_at <= ${queries.now}`,
    [orderId],
  )
  return row !== undefined
}
