// Reconciliations, their differences, and what of our orders and refunds was found in bills.
import type { PaymentDifferenceKind, PaymentProviderName } from '../../contract/payments.ts'
import { hourMs } from '../../contract/time.ts'
import { countRows } from '../db/count-rows.ts'
import type { Queries, Tx } from '../db/database.ts'
import { idList } from '../db/dialect.ts'
import { isReached } from '../db/reached.ts'
import type { Tables } from '../db/schema.ts'
import type { RefundRow } from './refund-store.ts'
import { maxLeaseMs } from './schedule-store.ts'
import type { OrderRow } from './store.ts'

export type ReconciliationRow = Readonly<Tables['payment_reconciliation']>
export type DifferenceRow = Readonly<Tables['payment_difference']>

/** The longest time between two attempts. */
export const maxReconciliationWaitMs = 6 * hourMs

export interface Totals {
  readonly orders: number
  readonly amount: number
  readonly refunds: number
  readonly refundAmount: number
  readonly byCurrency: Sums
}

/** Paid and refunded minor units by currency. */
export type Sums = Readonly<Record<string, { readonly amount: number; readonly refundAmount: number }>>

/** Creates the row of a day, so that it can be leased. */
export async function insertReconciliation(
  tx: Tx,
  provider: PaymentProviderName,
  day: string,
): Promise<void> {
  await tx.run(
    `INSERT INTO payment_reconciliation (provider, day, state, at) VALUES (?, ?, 'running', ${tx.now})
     ON CONFLICT (provider, day) DO NOTHING`,
    [provider, day],
  )
}

/**
 * Undefined when another process works on it. A day that is done is reconciled from the start. `dueOnly` leaves those alone
 * that are done or wait for their next attempt.
 */
export function leaseReconciliation(
  tx: Tx,
  provider: PaymentProviderName,
  day: string,
  { leaseMs, dueOnly }: { readonly leaseMs: number; readonly dueOnly: boolean },
): Promise<ReconciliationRow | undefined> {
  const due = dueOnly
    ? `AND state = 'running' AND (next_attempt_at IS NULL OR ${isReached(tx, 'next_attempt_at', maxReconciliationWaitMs)})`
    : ''
  return tx.one<ReconciliationRow>(
    `UPDATE payment_reconciliation SET lease_until = ${tx.now} + ${leaseMs},
       attempts = CASE WHEN state = 'done' THEN 1 ELSE attempts + 1 END,
       last_order_id = CASE WHEN state = 'done' THEN 0 ELSE last_order_id END, state = 'running'
     WHERE provider = ? AND day = ? AND ${isReached(tx, 'lease_until', maxLeaseMs)} ${due} RETURNING *`,
    [provider, day],
  )
}

/** False when the lease was lost. */
export async function renewLease(
  tx: Tx,
  row: ReconciliationRow,
  { leaseMs, lastOrderId = row.last_order_id }: { readonly leaseMs: number; readonly lastOrderId?: number },
): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE payment_reconciliation SET lease_until = ${tx.now} + ${leaseMs}, last_order_id = ?
     WHERE id = ? AND attempts = ? AND lease_until > ${tx.now}`,
    [lastOrderId, row.id, row.attempts],
  )
  return changed > 0
}

export async function endReconciliation(
  tx: Tx,
  row: ReconciliationRow,
  ours: Totals,
  theirs: Totals,
): Promise<void> {
  await tx.run(
    `UPDATE payment_reconciliation SET state = 'done', at = ${tx.now}, lease_until = 0, next_attempt_at = NULL,
       last_reason = NULL, orders = ?, amount = ?, refunds = ?, refund_amount = ?,
       their_orders = ?, their_amount = ?, their_refunds = ?, their_refund_amount = ?, sums = ?,
       differences = (SELECT COUNT(*) FROM payment_difference d WHERE d.reconciliation_id = payment_reconciliation.id)
     WHERE id = ? AND attempts = ?`,
    [
      ours.orders,
      ours.amount,
      ours.refunds,
      ours.refundAmount,
      theirs.orders,
      theirs.amount,
      theirs.refunds,
      theirs.refundAmount,
      JSON.stringify({ ours: ours.byCurrency, theirs: theirs.byCurrency }),
      row.id,
      row.attempts,
    ],
  )
}

export async function postponeReconciliation(
  tx: Tx,
  row: ReconciliationRow,
  { waitMs, reason }: { readonly waitMs: number; readonly reason: string },
): Promise<void> {
  await tx.run(
    `UPDATE payment_reconciliation SET at = ${tx.now}, lease_until = 0, last_reason = ?, next_attempt_at = ${tx.now} + ?
     WHERE id = ? AND attempts = ?`,
    [reason, waitMs, row.id, row.attempts],
  )
}

/** When the first order of a provider was made. */
export async function findFirstOrderTime(
  queries: Queries,
  provider: PaymentProviderName,
): Promise<number | undefined> {
  const row = await queries.one<Pick<Tables['payment_order'], 'created_at'>>(
    'SELECT created_at FROM payment_order WHERE provider = ? ORDER BY id LIMIT 1',
    [provider],
  )
  return row?.created_at
}

/** Days of a provider that need nothing now: done, or waiting for their next attempt. */
export async function findSettledDays(
  queries: Queries,
  provider: PaymentProviderName,
  from: string,
): Promise<ReadonlySet<string>> {
  const rows = await queries.all<Pick<Tables['payment_reconciliation'], 'day'>>(
    `SELECT day FROM payment_reconciliation WHERE provider = ? AND day >= ?
       AND (state = 'done' OR NOT ${isReached(queries, 'next_attempt_at', maxReconciliationWaitMs)}
         OR NOT ${isReached(queries, 'lease_until', maxLeaseMs)})`,
    [provider, from],
  )
  return new Set(rows.map(({ day }) => day))
}

export async function findFirstDay(
  queries: Queries,
  provider: PaymentProviderName,
): Promise<string | undefined> {
  const row = await queries.one<{ day: string | null }>(
    `SELECT MIN(day) AS day FROM payment_reconciliation WHERE provider = ? AND state = 'done'`,
    [provider],
  )
  return row?.day ?? undefined
}

interface BillRange {
  readonly start: number
  readonly end: number
}

/** What we recorded in a range of time. */
export async function sumOurs(
  queries: Queries,
  provider: PaymentProviderName,
  { start, end }: BillRange,
): Promise<Totals> {
  type Row = { readonly currency: string; readonly count: number; readonly amount: number }
  const paid = await queries.all<Row>(
    `SELECT currency, COUNT(*) AS count, CAST(SUM(amount) AS bigint) AS amount FROM payment_order
     WHERE provider = ? AND paid_at >= ? AND paid_at < ? GROUP BY currency`,
    [provider, start, end],
  )
  const refunded = await queries.all<Row>(
    `SELECT o.currency, COUNT(*) AS count, CAST(SUM(r.amount) AS bigint) AS amount FROM payment_refund r
       JOIN payment_order o ON o.id = r.order_id
     WHERE r.provider = ? AND r.state = 'succeeded' AND r.ended_at >= ? AND r.ended_at < ? GROUP BY o.currency`,
    [provider, start, end],
  )
  const total = (rows: readonly Row[], name: 'count' | 'amount') =>
    rows.reduce((sum, row) => sum + Number(row[name]), 0)
  const currencies = new Set([...paid, ...refunded].map(({ currency }) => currency))
  const of = (rows: readonly Row[], currency: string) =>
    total(
      rows.filter((row) => row.currency === currency),
      'amount',
    )
  return {
    orders: total(paid, 'count'),
    amount: total(paid, 'amount'),
    refunds: total(refunded, 'count'),
    refundAmount: total(refunded, 'amount'),
    byCurrency: Object.fromEntries(
      Array.from(currencies, (currency) => [
        currency,
        { amount: of(paid, currency), refundAmount: of(refunded, currency) },
      ]),
    ),
  }
}

export function findOrdersByNumber(queries: Queries, numbers: readonly string[]): Promise<OrderRow[]> {
  if (numbers.length === 0) return Promise.resolve([])
  return queries.kysely
    .selectFrom('payment_order')
    .selectAll()
    .where('number', 'in', [...numbers])
    .execute()
}

export function findRefundsByNumber(queries: Queries, numbers: readonly string[]): Promise<RefundRow[]> {
  if (numbers.length === 0) return Promise.resolve([])
  return queries.kysely
    .selectFrom('payment_refund')
    .selectAll()
    .where('number', 'in', [...numbers])
    .execute()
}

/** Paid in the range, and in no bill so far. */
export function findUnbilledOrders(
  queries: Queries,
  provider: PaymentProviderName,
  { start, end, afterId, limit }: BillRange & { readonly afterId: number; readonly limit: number },
): Promise<OrderRow[]> {
  return queries.all<OrderRow>(
    `SELECT * FROM payment_order WHERE provider = ? AND paid_at >= ? AND paid_at < ? AND bill_day IS NULL AND id > ?
     ORDER BY id LIMIT ?`,
    [provider, start, end, afterId, limit],
  )
}

/** Succeeded in the range, requested since `since`, and in no bill so far. */
export function findUnbilledRefunds(
  queries: Queries,
  provider: PaymentProviderName,
  { start, end, since, limit }: BillRange & { readonly since: number; readonly limit: number },
): Promise<(RefundRow & { readonly order_number: string; readonly currency: string })[]> {
  return queries.all(
    `SELECT r.*, o.number AS order_number, o.currency FROM payment_refund r JOIN payment_order o ON o.id = r.order_id
     WHERE r.provider = ? AND r.state = 'succeeded' AND r.ended_at >= ? AND r.ended_at < ? AND r.created_at >= ?
       AND r.bill_day IS NULL ORDER BY r.id LIMIT ?`,
    [provider, start, end, since, limit],
  )
}

export async function markBilled(
  tx: Tx,
  table: 'payment_order' | 'payment_refund',
  ids: readonly number[],
  day: string,
): Promise<void> {
  if (ids.length === 0) return
  const list = idList(tx, ids)
  await tx.run(`UPDATE ${table} SET bill_day = ? WHERE bill_day IS NULL AND id IN ${list.sql}`, [
    day,
    list.value,
  ])
}

export interface NewDifference {
  readonly orderNumber: string
  readonly kind: PaymentDifferenceKind
  readonly ours: string
  readonly theirs: string
  /** What reconciliation itself did about it. */
  readonly resolution?: string
}

/** False when this difference of the day is known: a bill is read again after a crash. */
export async function insertDifference(
  tx: Tx,
  reconciliationId: number,
  difference: NewDifference,
): Promise<boolean> {
  const { orderNumber, kind, ours, theirs, resolution } = difference
  const changed = await tx.run(
    `INSERT INTO payment_difference (reconciliation_id, order_number, kind, ours, theirs, at, resolved_at, resolved_by, resolution)
     SELECT CAST(? AS bigint), CAST(? AS text), CAST(? AS text), CAST(? AS text), CAST(? AS text), ${tx.now},
       ${resolution === undefined ? 'NULL' : tx.now}, CAST(? AS text), CAST(? AS text)
     WHERE NOT EXISTS (SELECT 1 FROM payment_difference
       WHERE reconciliation_id = ? AND order_number = ? AND kind = ? AND theirs = ?)`,
    [
      reconciliationId,
      orderNumber,
      kind,
      ours,
      theirs,
      resolution === undefined ? null : 'system',
      resolution ?? '',
      reconciliationId,
      orderNumber,
      kind,
      theirs,
    ],
  )
  return changed > 0
}

export function countDifferences(queries: Queries, reconciliationId: number): Promise<number> {
  return countRows(queries, 'payment_difference WHERE reconciliation_id = ?', [reconciliationId])
}

/** Newest day first. */
export function listReconciliations(
  queries: Queries,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<(ReconciliationRow & { readonly open: number })[]> {
  return queries.all(
    `SELECT r.*, (SELECT COUNT(*) FROM payment_difference d WHERE d.reconciliation_id = r.id AND d.resolved_at IS NULL) AS open
     FROM payment_reconciliation r WHERE r.id < ? ORDER BY r.id DESC LIMIT ?`,
    [before ?? Number.MAX_SAFE_INTEGER, limit],
  )
}

export interface DifferenceSearch {
  readonly reconciliationId?: number | undefined
  readonly openOnly: boolean
  readonly before?: number | undefined
  readonly limit: number
}

export type ListedDifference = DifferenceRow & {
  readonly provider: PaymentProviderName
  readonly day: string
}

export function listDifferences(queries: Queries, search: DifferenceSearch): Promise<ListedDifference[]> {
  let query = queries.kysely
    .selectFrom('payment_difference')
    .innerJoin('payment_reconciliation', 'payment_reconciliation.id', 'payment_difference.reconciliation_id')
    .selectAll('payment_difference')
    .select(['payment_reconciliation.provider', 'payment_reconciliation.day'])
    .orderBy('payment_difference.id', 'desc')
    .limit(search.limit)
  if (search.openOnly) query = query.where('payment_difference.resolved_at', 'is', null)
  if (search.reconciliationId !== undefined)
    query = query.where('payment_difference.reconciliation_id', '=', search.reconciliationId)
  if (search.before !== undefined) query = query.where('payment_difference.id', '<', search.before)
  return query.execute()
}

/** Undefined when there is no such open difference. */
export function resolveDifference(
  tx: Tx,
  id: number,
  { by, note }: { readonly by: string; readonly note: string },
): Promise<DifferenceRow | undefined> {
  return tx.one<DifferenceRow>(
    `UPDATE payment_difference SET resolved_at = ${tx.now}, resolved_by = ?, resolution = ?
     WHERE id = ? AND resolved_at IS NULL RETURNING *`,
    [by, note, id],
  )
}

export function countOpenDifferences(queries: Queries): Promise<number> {
  return countRows(queries, 'payment_difference WHERE resolved_at IS NULL')
}
