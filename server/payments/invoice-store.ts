// Invoice requests and the orders that each of them has.
import { type RawBuilder, sql } from 'kysely'
import type { InvoiceState } from '../../contract/payments.ts'
import type { Queries, Tx } from '../db/database.ts'
import { forUpdate, idList, valueTable } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import type { OrderRow } from './store.ts'

/** Without the file: lists do not read it. */
export type InvoiceRow = Readonly<Omit<Tables['invoice'], 'file'>>
export type ListedInvoice = InvoiceRow & { readonly username: string }

const columns = [
  'i.id',
  'i.account_id',
  'i.kind',
  'i.title',
  'i.tax_number',
  'i.address',
  'i.mail',
  'i.amount',
  'i.currency',
  'i.note',
  'i.state',
  'i.withdrawn',
  'i.corrected_amount',
  'i.reason',
  'i.number',
  'i.file_name',
  'i.created_at',
  'i.ended_at',
] as const

export type NewInvoice = Pick<
  Tables['invoice'],
  'account_id' | 'kind' | 'title' | 'tax_number' | 'address' | 'mail' | 'amount' | 'currency' | 'note'
>

export async function insertInvoice(
  tx: Tx,
  invoice: NewInvoice,
  orderIds: readonly number[],
): Promise<number> {
  const id = await tx.insert(
    `INSERT INTO invoice (account_id, kind, title, tax_number, address, mail, amount, currency, note, state, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ${tx.now})`,
    [
      invoice.account_id,
      invoice.kind,
      invoice.title,
      invoice.tax_number,
      invoice.address,
      invoice.mail,
      invoice.amount,
      invoice.currency,
      invoice.note,
    ],
  )
  for (const orderId of orderIds) {
    await tx.run('INSERT INTO invoice_order (order_id, invoice_id) VALUES (?, ?)', [orderId, id])
  }
  return id
}

const inState: Readonly<Record<InvoiceState, RawBuilder<boolean>>> = {
  open: sql`i.state = 'open'`,
  issued: sql`i.state = 'issued'`,
  rejected: sql`i.state = 'rejected' AND i.withdrawn = 0`,
  withdrawn: sql`i.withdrawn = 1`,
}

/**
 * Issued for more than its orders are worth without refunds, or than its last correction left. The first condition reads the index
 * of refunded orders: the operator's menu counts them every minute.
 */
const isRefunded = sql<boolean>`i.id IN
    (SELECT r.invoice_id FROM payment_order p JOIN invoice_order r ON r.order_id = p.id WHERE p.refunded > 0)
  AND i.state = 'issued' AND COALESCE(i.corrected_amount, i.amount) > (SELECT COALESCE(SUM(o.amount - o.refunded), 0)
    FROM invoice_order io JOIN payment_order o ON o.id = io.order_id WHERE io.invoice_id = i.id)`

interface InvoiceFilter {
  readonly accountId?: number | undefined
  readonly state?: InvoiceState | undefined
  readonly refundedOnly?: boolean | undefined
}

function selectInvoices(queries: Queries, { accountId, state, refundedOnly = false }: InvoiceFilter) {
  let query = queries.kysely.selectFrom('invoice as i')
  if (accountId !== undefined) query = query.where('i.account_id', '=', accountId)
  if (state !== undefined) query = query.where(inState[state])
  if (refundedOnly) query = query.where(isRefunded)
  return query
}

export async function countInvoices(queries: Queries, filter: InvoiceFilter): Promise<number> {
  const { count } = await selectInvoices(queries, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** The orders of an account by number, locked in one order. Unknown and foreign ones are left out. */
export function lockOrdersByNumber(
  tx: Tx,
  accountId: number,
  numbers: readonly string[],
): Promise<OrderRow[]> {
  const list = valueTable(
    tx,
    { wanted: 'text' },
    numbers.map((wanted) => ({ wanted })),
  )
  return tx.all<OrderRow>(
    `SELECT * FROM payment_order WHERE account_id = ? AND number IN (SELECT wanted FROM ${list.sql} AS t)
     ORDER BY id${forUpdate(tx)}`,
    [accountId, ...list.values],
  )
}

/** The ids among these that are in an invoice. */
export async function findInvoiced(queries: Queries, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const list = idList(queries, ids)
  const rows = await queries.all<Pick<Tables['invoice_order'], 'order_id'>>(
    `SELECT order_id FROM invoice_order WHERE order_id IN ${list.sql}`,
    [list.value],
  )
  return new Set(rows.map((row) => row.order_id))
}

/** Paid, not refunded in full, and in no invoice. Newest first. */
export function findInvoiceable(queries: Queries, accountId: number, limit: number): Promise<OrderRow[]> {
  return queries.all<OrderRow>(
    `SELECT o.* FROM payment_order o WHERE o.account_id = ? AND o.granted_at IS NOT NULL AND o.amount > o.refunded
       AND NOT EXISTS (SELECT 1 FROM invoice_order io WHERE io.order_id = o.id) ORDER BY o.id DESC LIMIT ?`,
    [accountId, limit],
  )
}

export function findInvoice(queries: Queries, id: number): Promise<ListedInvoice | undefined> {
  return queries.one<ListedInvoice>(
    `SELECT ${columns.join(', ')}, a.username FROM invoice i JOIN account a ON a.id = i.account_id WHERE i.id = ?`,
    [id],
  )
}

/** Locked until the transaction ends. */
export function lockInvoice(tx: Tx, id: number): Promise<InvoiceRow | undefined> {
  return tx.one<InvoiceRow>(`SELECT ${columns.join(', ')} FROM invoice i WHERE i.id = ?${forUpdate(tx)}`, [
    id,
  ])
}

/** Newest first. */
export function listInvoices(
  queries: Queries,
  filter: InvoiceFilter & { readonly before?: number | undefined },
  limit: number,
): Promise<ListedInvoice[]> {
  return selectInvoices(queries, filter)
    .innerJoin('account', 'account.id', 'i.account_id')
    .select([...columns, 'account.username'])
    .where('i.id', '<', filter.before ?? Number.MAX_SAFE_INTEGER)
    .orderBy('i.id', 'desc')
    .limit(limit)
    .execute()
}

export interface InvoicedOrder {
  readonly invoice_id: number
  readonly number: string
  /** Without refunds. */
  readonly amount: number
}

export async function listInvoicedOrders(
  queries: Queries,
  invoiceIds: readonly number[],
): Promise<InvoicedOrder[]> {
  if (invoiceIds.length === 0) return []
  const list = idList(queries, invoiceIds)
  return queries.all<InvoicedOrder>(
    `SELECT io.invoice_id, o.number, o.amount - o.refunded AS amount FROM invoice_order io
       JOIN payment_order o ON o.id = io.order_id WHERE io.invoice_id IN ${list.sql} ORDER BY o.id`,
    [list.value],
  )
}

/** The orders of an invoice, locked: no refund of them begins before the transaction ends. */
export function lockInvoicedOrders(tx: Tx, invoiceId: number): Promise<OrderRow[]> {
  return tx.all<OrderRow>(
    `SELECT o.* FROM payment_order o WHERE o.id IN (SELECT order_id FROM invoice_order WHERE invoice_id = ?)
     ORDER BY o.id${forUpdate(tx)}`,
    [invoiceId],
  )
}

export async function updateIssued(
  tx: Tx,
  id: number,
  issued: { readonly number: string; readonly fileName: string; readonly file: string },
): Promise<void> {
  await tx.run(
    `UPDATE invoice SET state = 'issued', number = ?, file_name = ?, file = ?, ended_at = ${tx.now} WHERE id = ?`,
    [issued.number, issued.fileName, issued.file, id],
  )
}

/** By an operator or, withdrawn, by its holder. Its orders can be invoiced again. */
export async function updateRejected(
  tx: Tx,
  id: number,
  { reason, withdrawn }: { readonly reason: string; readonly withdrawn: boolean },
): Promise<void> {
  await tx.run(
    `UPDATE invoice SET state = 'rejected', withdrawn = ?, reason = ?, ended_at = ${tx.now} WHERE id = ?`,
    [withdrawn ? 1 : 0, reason, id],
  )
  await tx.run('DELETE FROM invoice_order WHERE invoice_id = ?', [id])
}

/** Refunds up to now are corrected. */
export async function updateCorrected(tx: Tx, id: number, amount: number): Promise<void> {
  await tx.run('UPDATE invoice SET corrected_amount = ? WHERE id = ?', [amount, id])
}

export async function findInvoiceFile(
  queries: Queries,
  id: number,
): Promise<{ readonly account_id: number; readonly file_name: string; readonly file: string } | undefined> {
  return queries.one('SELECT account_id, file_name, file FROM invoice WHERE id = ? AND file IS NOT NULL', [
    id,
  ])
}
