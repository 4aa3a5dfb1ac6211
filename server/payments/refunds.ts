// Refunds: the credits are taken back when a refund is requested, and the provider is asked under one number until it answers.
import { hourMs, minuteMs } from '../../contract/time.ts'
import { formatMinor } from '../../contract/payments.ts'
import { type OperatorActor, recordChange } from '../audit/audit.ts'
import { addCredits, findBalances } from '../credits/store.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { AppError, invalidField } from '../http/errors.ts'
import { moveOrder } from './order-states.ts'
import { alert, orderNotFound, wrongState } from './orders.ts'
import type { CreditAmounts } from './packages.ts'
import type { RefundResult } from './port.ts'
import type { Providers } from './providers.ts'
import {
  endRefund,
  findPendingRefund,
  insertRefund,
  leaseRefund,
  type LeasedRefund,
  maxRefundWaitMs,
  listRefunds,
  lockRefund,
  postponeRefund,
  type RefundRow,
} from './refund-store.ts'
import {
  addRefunded,
  addTaken,
  findItems,
  findOrder,
  findOrderById,
  insertNewOrderEvent,
  insertOrderEvent,
  lockOrder,
  type OrderItem,
  type OrderRow,
} from './store.ts'

export interface RefundsOptions {
  readonly db: Database
  readonly providers: Providers
  /** Longer than one attempt can take. */
  readonly leaseMs: number
}

export interface Refunds {
  /** Requests a refund and sends it to the provider. While one is open, the same request is the same refund. */
  request(actor: OperatorActor, number: string, input: RefundInput): Promise<RefundRow>
  /** Sends a leased refund to the provider and records the result. The same number is refunded once. */
  send(refund: LeasedRefund): Promise<void>
}

export interface RefundInput {
  /** In minor units; everything that is left if left out. */
  readonly amount?: number | undefined
  readonly note: string
}

interface Begun {
  readonly refund: RefundRow
  readonly isNew: boolean
}

/** Until the next attempt, by how many were made. */
const waitsMs = [3_000, 10_000, 30_000, 2 * minuteMs, 10 * minuteMs, hourMs, maxRefundWaitMs]
/** An operator is alerted when a refund is still open after this many attempts. */
const alertAfter = 4

export function createRefunds({ db, providers, leaseMs }: RefundsOptions): Refunds {
  async function begin(tx: Tx, actor: OperatorActor, orderId: number, input: RefundInput): Promise<Begun> {
    const order = await lockOrder(tx, orderId)
    if (!order) throw orderNotFound()
    const open = await findPendingRefund(tx, orderId)
    if (open) {
      if (input.amount === undefined || input.amount === open.amount) return { refund: open, isNew: false }
      throw new AppError(
        1005,
        {
          zh: `退款 ${open.number}（${formatMinor(open.amount)}）尚未完成，不能再申请其他金额`,
          en: `refund ${open.number} of ${formatMinor(open.amount)} is not finished yet`,
        },
        { status: 409 },
      )
    }
    const isRefundable = ['granted', 'partly_refunded', 'paid'].includes(order.state)
    const left = order.amount - order.refunded
    if (!isRefundable || left <= 0) throw wrongState(order)
    const amount = input.amount ?? left
    if (!Number.isSafeInteger(amount) || amount < 1 || amount > left) throw tooMuch(left)
    const credits = order.state === 'paid' ? {} : await takeBack(tx, order, amount)
    await addRefunded(tx, order.id, amount)
    const { note } = input
    const refund = await insertRefund(tx, order, { amount, credits, note, requestedBy: actor.name, leaseMs })
    await insertOrderEvent(tx, order.id, 'refund_requested', `${formatMinor(amount)} ${refund.number}`)
    await recordChange(tx, { ...actor, note }, 'order.refund', order.number, {
      amount: formatMinor(amount),
      currency: order.currency,
      refund: refund.number,
      ...credits,
    })
    return { refund, isNew: true }
  }

  async function takeBack(tx: Tx, order: OrderRow, amount: number): Promise<CreditAmounts> {
    const items = await findItems(tx, order.id)
    const max = await refundable(tx, order, items)
    if (amount > max) throw notEnough(max)
    const credits: Record<string, number> = {}
    for (const item of items) {
      const taken = creditsToTake(item, order, amount)
      if (taken === 0) continue
      const change = { accountId: order.account_id, apiType: item.api_type, kind: 'adjust' } as const
      if (!(await addCredits(tx, { ...change, amount: -taken, note: order.number }))) {
        throw notEnough(0)
      }
      await addTaken(tx, order.id, item.api_type, taken)
      credits[item.api_type] = taken
    }
    return credits
  }

  async function finish(orderId: number, refundId: number, result: RefundResult): Promise<void> {
    await db.write(async (tx) => {
      // The order first: every transaction locks in this order.
      const order = await lockOrder(tx, orderId)
      const refund = await lockRefund(tx, refundId)
      if (!order || refund?.state !== 'pending') return
      const label = `${formatMinor(refund.amount)} ${refund.number}`
      if (result.kind === 'succeeded') {
        await endRefund(tx, refund.id, { state: 'succeeded', reason: null, ref: result.ref ?? null })
        const part = order.state === 'paid' ? 'refundPartLate' : 'refundPart'
        await moveOrder(tx, order.id, order.refunded === order.amount ? 'refundRest' : part, label)
        return
      }
      if (result.kind === 'failed') {
        await endRefund(tx, refund.id, { state: 'failed', reason: result.reason, ref: null })
        await giveBack(tx, order, refund)
        await insertOrderEvent(tx, order.id, 'refund_failed', `${label} ${result.reason}`)
        await alert(tx, order, `refund_failed ${result.reason}`, `${refund.number} refund_failed`)
        return
      }
      const waitMs = waitsMs[Math.min(refund.attempts, waitsMs.length) - 1] ?? waitsMs[0]!
      const ref = result.kind === 'pending' ? (result.ref ?? null) : null
      await postponeRefund(tx, refund.id, { waitMs, reason: result.reason, ref })
      const isNewlyStopped =
        result.kind === 'pending' && result.isStopped === true && refund.last_reason !== result.reason
      if (refund.attempts === 1 || isNewlyStopped)
        await insertOrderEvent(tx, order.id, 'refund_unclear', `${label} ${result.reason}`)
      if (isNewlyStopped)
        await alert(tx, order, `refund_stopped ${result.reason}`, `${refund.number} refund_stopped`)
      else if (refund.attempts === alertAfter) await alert(tx, order, `refund_unclear ${result.reason}`)
    })
  }

  /** Nothing was refunded: the credits that were taken are granted again. */
  async function giveBack(tx: Tx, order: OrderRow, refund: RefundRow): Promise<void> {
    const credits = Object.entries(JSON.parse(refund.credits) as CreditAmounts).sort(([a], [b]) =>
      a < b ? -1 : 1,
    )
    for (const [type, amount] of credits) {
      const apiType = type as OrderItem['api_type']
      const change = {
        accountId: order.account_id,
        apiType,
        kind: 'adjust',
        amount,
        note: order.number,
      } as const
      if (!(await addCredits(tx, change))) throw new Error(`account ${order.account_id} has no balance`)
      await addTaken(tx, order.id, apiType, -amount)
    }
    await addRefunded(tx, order.id, -refund.amount)
  }

  async function send(refund: LeasedRefund): Promise<void> {
    const provider = providers.get(refund.provider)
    const order = await findOrderById(db, refund.order_id)
    if (!provider || !order) return
    const result = await provider.refund({
      order,
      number: refund.number,
      amount: refund.amount,
      ref: refund.provider_ref,
      isRepeat: refund.attempts > 1,
      sinceLastMs: refund.now - refund.last_attempt_at,
      orderAgeMs: refund.now - order.created_at,
    })
    await finish(order.id, refund.id, result)
  }

  return {
    async request(actor, number, input) {
      const order = await findOrder(db, number)
      if (!order) throw orderNotFound()
      if (!providers.has(order.provider)) {
        throw new AppError(
          1005,
          {
            zh: `支付方式 ${order.provider} 未启用，不能退款`,
            en: `${order.provider} is not configured, so nothing can be refunded through it`,
          },
          { status: 409 },
        )
      }
      const { refund, isNew } = await db.write((tx) => begin(tx, actor, order.id, input))
      if (isNew) await send({ ...refund, now: refund.created_at, last_attempt_at: refund.created_at })
      else {
        // Unless another process is sending it.
        const leased = await db.write((tx) => leaseRefund(tx, refund.id, leaseMs))
        if (leased) await send(leased)
      }
      const rows = await listRefunds(db, order.id)
      return rows.find(({ id }) => id === refund.id) ?? refund
    },
    send,
  }
}

/**
 * The provider reports that a refund failed. One that had succeeded before stays so, because its credits were taken for it: an
 * operator decides how the payer gets the money. One that is still open is queried.
 */
export async function reportFailedRefund(
  tx: Tx,
  order: OrderRow,
  failed: { readonly refund: string; readonly reason: string },
): Promise<void> {
  // Stripe sends several events about it at the same time.
  await lockOrder(tx, order.id)
  const refund = (await listRefunds(tx, order.id)).find(({ number }) => number === failed.refund)
  if (refund?.state !== 'succeeded') return
  const note = `${formatMinor(refund.amount)} ${refund.number} ${failed.reason}`
  if (await insertNewOrderEvent(tx, order.id, 'refund_failed', note))
    await alert(tx, order, `refund_failed ${failed.reason}`, `${refund.number} refund_failed`)
}

/** In proportion to the money, rounded up to whole credits, and never more than the order granted. */
export function creditsToTake(
  item: Pick<OrderItem, 'amount' | 'taken'>,
  order: Pick<OrderRow, 'amount' | 'refunded'>,
  amount: number,
): number {
  const rest = item.amount - item.taken
  if (amount === order.amount - order.refunded) return rest
  const [credits, part, whole] = [BigInt(item.amount), BigInt(amount), BigInt(order.amount)]
  return Math.min(rest, Number((credits * part + whole - 1n) / whole))
}

/** The largest amount whose credits are all unused. */
export async function refundable(
  queries: Queries,
  order: OrderRow,
  items: readonly OrderItem[],
): Promise<number> {
  const left = order.amount - order.refunded
  if (order.state === 'paid') return left
  const balances = await findBalances(queries, order.account_id)
  const limits = items.map((item) => {
    const unused = balances.find(({ api_type: type }) => type === item.api_type)?.remaining ?? 0
    if (unused >= item.amount - item.taken) return left
    return Number((BigInt(unused) * BigInt(order.amount)) / BigInt(item.amount))
  })
  return Math.min(left, ...limits)
}

function tooMuch(left: number): AppError {
  return invalidField('amount', {
    zh: `金额必须是 0.01 至 ${formatMinor(left)}`,
    en: `the amount must be from 0.01 to ${formatMinor(left)}`,
  })
}

function notEnough(max: number): AppError {
  return invalidField('amount', {
    zh: `未使用的额度不足，最多可退 ${formatMinor(max)}`,
    en: `too few credits are unused: at most ${formatMinor(max)} can be refunded`,
  })
}
