// Refunds: one row each, with the number that the provider knows and what was taken back.
import type { ApiType } from '../../contract/credits.ts'
import type { PaymentProviderName } from '../../contract/payments.ts'
import { hourMs } from '../../contract/time.ts'
import { countRows } from '../db/count-rows.ts'
import type { Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import { isReached } from '../db/reached.ts'
import type { Tables } from '../db/schema.ts'
import { maxLeaseMs } from './schedule-store.ts'
import type { OrderRow } from './store.ts'

export type RefundRow = Readonly<Tables['payment_refund']>

export interface NewRefund {
  readonly amount: number
  readonly credits: Readonly<Partial<Record<ApiType, number>>>
  readonly note: string
  readonly requestedBy: string
  /** The caller asks the provider itself within this time. */
  readonly leaseMs?: number
}

/** The order is locked. The number is that of the order with the position of the refund, so it is the same after a crash. */
export async function insertRefund(tx: Tx, order: OrderRow, refund: NewRefund): Promise<RefundRow> {
  const count = await countRows(tx, 'payment_refund WHERE order_id = ?', [order.id])
  const leaseMs = refund.leaseMs ?? 0
  const row = await tx.one<RefundRow>(
    `INSERT INTO payment_refund (order_id, provider, number, amount, credits, state, note, requested_by, attempts, created_at,
       next_attempt_at, lease_until)
     VALUES (?, ?, ?, ?, ?, 'pending', ?, ?, ?, ${tx.now}, ${tx.now} + ?, ${tx.now} + ?) RETURNING *`,
    [
      order.id,
      order.provider,
      `${order.number}R${count + 1}`,
      refund.amount,
      JSON.stringify(refund.credits),
      refund.note,
      refund.requestedBy,
      leaseMs > 0 ? 1 : 0,
      leaseMs,
      leaseMs,
    ],
  )
  if (!row) throw new Error('the refund was not inserted')
  return row
}

export function listRefunds(queries: Queries, orderId: number): Promise<RefundRow[]> {
  return queries.all<RefundRow>('SELECT * FROM payment_refund WHERE order_id = ? ORDER BY id LIMIT 1000', [
    orderId,
  ])
}

export function findPendingRefund(queries: Queries, orderId: number): Promise<RefundRow | undefined> {
  return queries.one<RefundRow>(`SELECT * FROM payment_refund WHERE order_id = ? AND state = 'pending'`, [
    orderId,
  ])
}

export function lockRefund(tx: Tx, id: number): Promise<RefundRow | undefined> {
  return tx.one<RefundRow>(`SELECT * FROM payment_refund WHERE id = ?${forUpdate(tx)}`, [id])
}

export async function endRefund(
  tx: Tx,
  id: number,
  end: {
    readonly state: 'succeeded' | 'failed'
    readonly reason: string | null
    readonly ref: string | null
  },
): Promise<void> {
  await tx.run(
    `UPDATE payment_refund SET state = ?, last_reason = ?, provider_ref = COALESCE(?, provider_ref), ended_at = ${tx.now},
       next_attempt_at = NULL, lease_until = 0 WHERE id = ? AND state = 'pending'`,
    [end.state, end.reason, end.ref, id],
  )
}

/** `lease_until` keeps the time of this attempt for the next one. */
export async function postponeRefund(
  tx: Tx,
  id: number,
  next: { readonly waitMs: number; readonly reason: string; readonly ref: string | null },
): Promise<void> {
  await tx.run(
    `UPDATE payment_refund SET last_reason = ?, provider_ref = COALESCE(?, provider_ref), lease_until = ${tx.now},
       next_attempt_at = ${tx.now} + ? WHERE id = ? AND state = 'pending'`,
    [next.reason, next.ref, next.waitMs, id],
  )
}

/** The longest time between two attempts. */
export const maxRefundWaitMs = 6 * hourMs

const isDue = (queries: Queries) =>
  `${isReached(queries, 'next_attempt_at', maxRefundWaitMs)} AND ${isReached(queries, 'lease_until', maxLeaseMs)}`

export async function hasDueRefund(queries: Queries, provider: PaymentProviderName): Promise<boolean> {
  const row = await queries.one(
    `SELECT 1 AS found FROM payment_refund WHERE provider = ? AND next_attempt_at IS NOT NULL
       AND ${isDue(queries)} LIMIT 1`,
    [provider],
  )
  return row !== undefined
}

export type LeasedRefund = RefundRow & {
  readonly now: number
  /** When the attempt before this one ended, or its lease after a crash. */
  readonly last_attempt_at: number
}

export async function leaseRefunds(
  tx: Tx,
  provider: PaymentProviderName,
  { limit, leaseMs }: { readonly limit: number; readonly leaseMs: number },
): Promise<LeasedRefund[]> {
  const due = await tx.all<RefundRow>(
    `SELECT * FROM payment_refund WHERE provider = ? AND next_attempt_at IS NOT NULL
       AND ${isDue(tx)} ORDER BY next_attempt_at LIMIT ${limit}${forUpdate(tx)}`,
    [provider],
  )
  return startAttempts(tx, due, leaseMs)
}

/** For a command that sends it again. */
export async function leaseRefund(tx: Tx, id: number, leaseMs: number): Promise<LeasedRefund | undefined> {
  const free = await tx.all<RefundRow>(
    `SELECT * FROM payment_refund WHERE id = ? AND state = 'pending' AND ${isReached(tx, 'lease_until', maxLeaseMs)}${forUpdate(tx)}`,
    [id],
  )
  return (await startAttempts(tx, free, leaseMs))[0]
}

/** The rows are locked. Counts the attempts before they are made: after a crash the provider may have been asked. */
async function startAttempts(tx: Tx, rows: readonly RefundRow[], leaseMs: number): Promise<LeasedRefund[]> {
  const leased: LeasedRefund[] = []
  for (const { id, created_at: createdAt, lease_until: leaseUntil } of rows) {
    const row = await tx.one<RefundRow & { now: number }>(
      `UPDATE payment_refund SET lease_until = ${tx.now} + ${leaseMs}, attempts = attempts + 1 WHERE id = ? RETURNING *, ${tx.now} AS now`,
      [id],
    )
    if (row) leased.push({ ...row, last_attempt_at: leaseUntil > 0 ? leaseUntil : createdAt })
  }
  return leased
}

/** The provider reported a change. */
export async function sendRefundSoon(tx: Tx, orderId: number): Promise<void> {
  await tx.run(
    `UPDATE payment_refund SET next_attempt_at = ${tx.now} WHERE order_id = ? AND state = 'pending'`,
    [orderId],
  )
}
