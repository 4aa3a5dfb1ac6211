// Orders, what they grant, and their history.
import type { ApiType } from '../../contract/credits.ts'
import type { OrderState, PaymentProviderName } from '../../contract/payments.ts'
import { countRows } from '../db/count-rows.ts'
import type { Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'

export type OrderRow = Readonly<Tables['payment_order']>
export type OrderItem = Readonly<Omit<Tables['payment_order_item'], 'order_id'>>
export type OrderEvent = Readonly<Pick<Tables['payment_order_event'], 'id' | 'at' | 'event' | 'note'>>

export interface NewOrder {
  readonly number: string
  readonly accountId: number
  readonly packageCode: string
  readonly packageName: string
  readonly credits: Readonly<Partial<Record<ApiType, number>>>
  readonly amount: number
  readonly currency: string
  readonly provider: PaymentProviderName
  readonly payToken: string
  readonly ttlMs: number
  readonly providerTtlMs: number
  readonly firstQueryMs: number
}

export async function insertOrder(tx: Tx, order: NewOrder): Promise<OrderRow> {
  const row = await tx.one<OrderRow>(
    `INSERT INTO payment_order (number, account_id, package_code, package_name, amount, currency, provider, state,
       pay_token, created_at, expires_at, provider_expires_at, next_query_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', ?, ${tx.now}, ${tx.now} + ?, ${tx.now} + ?, ${tx.now} + ?) RETURNING *`,
    [
      order.number,
      order.accountId,
      order.packageCode,
      order.packageName,
      order.amount,
      order.currency,
      order.provider,
      order.payToken,
      order.ttlMs,
      order.providerTtlMs,
      order.firstQueryMs,
    ],
  )
  if (!row) throw new Error('the order was not inserted')
  for (const [apiType, amount] of Object.entries(order.credits)) {
    await tx.run('INSERT INTO payment_order_item (order_id, api_type, amount) VALUES (?, ?, ?)', [
      row.id,
      apiType,
      amount,
    ])
  }
  return row
}

/** Without those past their expiry: a provider that does not answer, or is not configured any more, never closes them. */
export function countPending(queries: Queries, accountId: number): Promise<number> {
  return countRows(
    queries,
    `payment_order WHERE account_id = ? AND state = 'pending' AND expires_at > ${queries.now}`,
    [accountId],
  )
}

export function findOrder(queries: Queries, number: string): Promise<OrderRow | undefined> {
  return queries.one<OrderRow>('SELECT * FROM payment_order WHERE number = ?', [number])
}

export function findOrderById(queries: Queries, id: number): Promise<OrderRow | undefined> {
  return queries.one<OrderRow>('SELECT * FROM payment_order WHERE id = ?', [id])
}

export function findOrderByToken(queries: Queries, token: string): Promise<OrderRow | undefined> {
  return queries.one<OrderRow>('SELECT * FROM payment_order WHERE pay_token = ?', [token])
}

/** By the provider's number of the payment. */
export async function findOrderByTrade(
  queries: Queries,
  provider: PaymentProviderName,
  tradeNumber: string,
): Promise<OrderRow | undefined> {
  if (tradeNumber === '') return undefined
  return queries.one<OrderRow>('SELECT * FROM payment_order WHERE provider = ? AND trade_number = ?', [
    provider,
    tradeNumber,
  ])
}

/** Locked until the transaction ends. */
export function lockOrder(tx: Tx, id: number): Promise<OrderRow | undefined> {
  return tx.one<OrderRow>(`SELECT * FROM payment_order WHERE id = ?${forUpdate(tx)}`, [id])
}

/** In the order in which every transaction locks balances. */
export function findItems(queries: Queries, orderId: number): Promise<OrderItem[]> {
  return queries.all<OrderItem>(
    'SELECT api_type, amount, taken FROM payment_order_item WHERE order_id = ? ORDER BY api_type',
    [orderId],
  )
}

/** Counts credits that a refund takes; a negative amount when the refund failed. */
export async function addTaken(tx: Tx, orderId: number, apiType: ApiType, amount: number): Promise<void> {
  await tx.run('UPDATE payment_order_item SET taken = taken + ? WHERE order_id = ? AND api_type = ?', [
    amount,
    orderId,
    apiType,
  ])
}

export async function addRefunded(tx: Tx, orderId: number, amount: number): Promise<void> {
  await tx.run('UPDATE payment_order SET refunded = refunded + ? WHERE id = ?', [amount, orderId])
}

export interface StateChange {
  readonly from: readonly OrderState[]
  readonly to: OrderState
  readonly times: readonly ('paid_at' | 'granted_at' | 'closed_at')[]
  readonly events: readonly string[]
  readonly note: string
}

/** Called by the state machine only. */
export async function updateState(tx: Tx, orderId: number, change: StateChange): Promise<boolean> {
  const times = change.times.map((column) => `, ${column} = ${tx.now}`).join('')
  const from = change.from.map((state) => `'${state}'`).join(', ')
  const changed = await tx.run(
    `UPDATE payment_order SET state = ?${times} WHERE id = ? AND state IN (${from})`,
    [change.to, orderId],
  )
  if (changed === 0) return false
  for (const event of change.events) await insertOrderEvent(tx, orderId, event, change.note)
  return true
}

export async function insertOrderEvent(tx: Tx, orderId: number, event: string, note: string): Promise<void> {
  await tx.run(`INSERT INTO payment_order_event (order_id, at, event, note) VALUES (?, ${tx.now}, ?, ?)`, [
    orderId,
    event,
    note,
  ])
}

/** What repeats without a change in between is recorded once: a provider sends a notification many times. */
export async function insertNewOrderEvent(
  tx: Tx,
  orderId: number,
  event: string,
  note: string,
): Promise<boolean> {
  const last = await tx.one<OrderEvent>(
    'SELECT id, at, event, note FROM payment_order_event WHERE order_id = ? ORDER BY id DESC LIMIT 1',
    [orderId],
  )
  if (last?.event === event && last.note === note) return false
  await insertOrderEvent(tx, orderId, event, note)
  return true
}

export function listOrderEvents(queries: Queries, orderId: number, limit: number): Promise<OrderEvent[]> {
  return queries.all<OrderEvent>(
    'SELECT id, at, event, note FROM payment_order_event WHERE order_id = ? ORDER BY id LIMIT ?',
    [orderId, limit],
  )
}

export async function updateOpened(
  tx: Tx,
  orderId: number,
  opened: { payUrl?: string | undefined; codeUrl?: string | undefined; ref?: string | undefined },
): Promise<void> {
  await tx.run(
    `UPDATE payment_order SET pay_url = ?, code_url = ?, provider_ref = COALESCE(provider_ref, ?) WHERE id = ?`,
    [opened.payUrl ?? null, opened.codeUrl ?? null, opened.ref ?? null, orderId],
  )
}

export async function updateTrade(
  tx: Tx,
  orderId: number,
  trade: { tradeNumber: string; ref?: string | undefined },
): Promise<void> {
  await tx.run(
    'UPDATE payment_order SET trade_number = ?, provider_ref = COALESCE(provider_ref, ?) WHERE id = ?',
    [trade.tradeNumber, trade.ref ?? null, orderId],
  )
}

/** The payer paid at the sandbox cashier. */
export async function updateSandboxPaid(tx: Tx, orderId: number): Promise<void> {
  await tx.run(
    `UPDATE payment_order SET sandbox_paid_at = COALESCE(sandbox_paid_at, ${tx.now}), next_query_at = ${tx.now}
     WHERE id = ?`,
    [orderId],
  )
}

export interface OrderSearch {
  readonly accountId?: number | undefined
  readonly state?: OrderState | undefined
  readonly provider?: PaymentProviderName | undefined
  /** The beginning of a number. */
  readonly number?: string | undefined
  readonly before?: number | undefined
}

export type ListedOrder = OrderRow & { readonly username: string }

/** Newest first. */
export async function listOrders(
  queries: Queries,
  search: OrderSearch,
  limit: number,
): Promise<ListedOrder[]> {
  let query = queries.kysely
    .selectFrom('payment_order')
    .innerJoin('account', 'account.id', 'payment_order.account_id')
    .selectAll('payment_order')
    .select('account.username')
    .orderBy('payment_order.id', 'desc')
    .limit(limit)
  if (search.accountId !== undefined) query = query.where('payment_order.account_id', '=', search.accountId)
  if (search.state !== undefined) query = query.where('payment_order.state', '=', search.state)
  if (search.provider !== undefined) query = query.where('payment_order.provider', '=', search.provider)
  if (search.number !== undefined) query = query.where('payment_order.number', '=', search.number)
  if (search.before !== undefined) query = query.where('payment_order.id', '<', search.before)
  return query.execute()
}
