// Orders: created before the provider is asked, settled once the provider's own answer says paid, closed when they expire.
import { randomBytes } from 'node:crypto'
import {
  formatMinor,
  orderStateNames,
  paymentLimits,
  type PaymentProviderName,
} from '../../contract/payments.ts'
import { isoTime } from '../../contract/time.ts'
import { type Account, lockAccount } from '../accounts/store.ts'
import { type Actor, type OperatorActor, recordChange } from '../audit/audit.ts'
import { addCredits } from '../credits/store.ts'
import type { Database, Tx } from '../db/database.ts'
import { emitEvents, emitToOperators } from '../events/emit.ts'
import { AppError } from '../http/errors.ts'
import { createOrderNumber } from './order-number.ts'
import { moveOrder } from './order-states.ts'
import { creditsOf, packageNotFound } from './packages.ts'
import { findPackage } from './package-store.ts'
import type { PaymentProvider, PaymentStatus } from './port.ts'
import type { Providers } from './providers.ts'
import { insertRefund } from './refund-store.ts'
import { isPastExpiry, planNextQuery } from './schedule-store.ts'
import {
  addRefunded,
  countPending,
  findItems,
  findOrder,
  insertNewOrderEvent,
  insertOrder,
  insertOrderEvent,
  lockOrder,
  type OrderRow,
  updateOpened,
  updateTrade,
} from './store.ts'

export interface OrdersOptions {
  readonly db: Database
  readonly providers: Providers
  readonly ttlMs: number
  /** Seconds after its creation at which an order is queried. */
  readonly schedule: readonly number[]
}

export interface Orders {
  create(actor: Actor, account: Account, input: NewOrderInput): Promise<OrderRow>
  /** Asks the provider and does what its answer requires. Safe at any time, from any process. */
  check(order: OrderRow): Promise<OrderCheckResult>
  /** An operator saw the money of a bank transfer. */
  confirm(actor: OperatorActor, number: string, note: string): Promise<OrderRow>
  /** Something about a payment does not fit: recorded in the history and alerted. */
  refuse(order: OrderRow, reason: string): Promise<void>
}

export interface NewOrderInput {
  readonly packageCode: string
  readonly provider: PaymentProviderName
}

export type OrderCheckResult = 'settled' | 'waiting' | 'closed' | 'refused' | 'no_answer'

export function createOrders(options: OrdersOptions): Orders {
  const { db, providers, schedule } = options

  function providerOf(name: PaymentProviderName): PaymentProvider {
    const provider = providers.get(name)
    if (provider) return provider
    throw new AppError(1002, {
      zh: `支付方式 ${name} 未启用`,
      en: `the payment method ${name} is not configured, see PAYMENTS`,
    })
  }

  async function requireOrder(number: string): Promise<OrderRow> {
    const order = await findOrder(db, number)
    if (!order) throw orderNotFound()
    return order
  }

  /** Grants the credits of a paid order; no other function does. */
  async function settle(tx: Tx, order: OrderRow, note: string): Promise<boolean> {
    const isLate = order.state === 'closed'
    if (!(await moveOrder(tx, order.id, isLate ? 'payLate' : 'pay', note))) return false
    const items = await findItems(tx, order.id)
    for (const { api_type: apiType, amount } of items) {
      const grant = {
        accountId: order.account_id,
        apiType,
        kind: 'grant',
        amount,
        note: order.number,
      } as const
      if (!(await addCredits(tx, grant))) throw new Error(`account ${order.account_id} has no balance`)
    }
    const row = await lockOrder(tx, order.id)
    const data = {
      number: order.number,
      package: order.package_code,
      amount: formatMinor(order.amount),
      currency: order.currency,
      provider: order.provider,
      credits: Object.fromEntries(items.map((item) => [item.api_type, item.amount])),
      paid_at: isoTime(row?.paid_at ?? 0),
    }
    await emitEvents(tx, [{ accountId: order.account_id, type: 'order.paid', data }])
    return true
  }

  /** A payment that came after the order was closed: granted if the package still exists, else refunded. */
  async function settleLate(tx: Tx, order: OrderRow, note: string): Promise<boolean> {
    if (await findPackage(tx, order.package_code)) return settle(tx, order, note)
    if (!(await moveOrder(tx, order.id, 'keepLate', note))) return false
    const reason = 'late_payment_of_removed_package'
    await insertRefund(tx, order, { amount: order.amount, credits: {}, note: reason, requestedBy: 'system' })
    await addRefunded(tx, order.id, order.amount)
    await insertOrderEvent(tx, order.id, 'refund_requested', reason)
    await alert(tx, order, reason)
    return true
  }

  async function record(
    order: OrderRow,
    paid: Extract<PaymentStatus, { kind: 'paid' }>,
  ): Promise<OrderCheckResult> {
    const problem = findMismatch(order, paid)
    if (problem !== undefined) {
      await refuse(order, problem)
      return 'refused'
    }
    await db.write(async (tx) => {
      const current = await lockOrder(tx, order.id)
      if (current?.state !== 'pending' && current?.state !== 'closed') return
      await updateTrade(tx, order.id, paid)
      if (current.state === 'pending') await settle(tx, current, paid.tradeNumber)
      else await settleLate(tx, current, paid.tradeNumber)
      await planNextQuery(tx, order.id, schedule)
    })
    return 'settled'
  }

  async function refuse(order: OrderRow, reason: string): Promise<void> {
    await db.write(async (tx) => {
      if (!(await lockOrder(tx, order.id))) return
      if (await insertNewOrderEvent(tx, order.id, 'refused', reason)) await alert(tx, order, reason)
    })
  }

  async function close(order: OrderRow): Promise<void> {
    await db.write(async (tx) => {
      await lockOrder(tx, order.id)
      await moveOrder(tx, order.id, 'close', '')
      await planNextQuery(tx, order.id, schedule)
    })
  }

  async function check(order: OrderRow): Promise<OrderCheckResult> {
    if (order.state !== 'pending' && order.state !== 'closed') return 'settled'
    const provider = providers.get(order.provider)
    if (!provider) return 'no_answer'
    let status = await provider.query(order)
    const isOver = order.state === 'pending' && (await isPastExpiry(db, order.id))
    if (status.kind === 'unpaid' && isOver) {
      await provider.close(order)
      // A payment may have been faster than the request to close.
      status = await provider.query(order)
    }
    switch (status.kind) {
      case 'paid':
        return record(order, status)
      case 'contradiction':
        await refuse(order, status.reason)
        return 'refused'
      case 'unknown':
        // Nobody was shown where to pay, so nothing was paid, and the provider may not know the order at all.
        if (!isOver || order.pay_url !== null || order.code_url !== null) return 'no_answer'
        await close(order)
        return 'closed'
      default: {
        const isClosed = order.state === 'pending' && (isOver || status.kind === 'closed')
        if (isClosed) await close(order)
        return isClosed ? 'closed' : 'waiting'
      }
    }
  }

  return {
    async create(actor, account, { packageCode, provider: name }) {
      const provider = providerOf(name)
      const offer = await findPackage(db, packageCode)
      if (!offer || (offer.hidden === 1 && actor.kind === 'account')) throw packageNotFound()
      if (provider.currency !== undefined && provider.currency !== offer.currency) {
        throw new AppError(1002, {
          zh: `该支付方式只支持 ${provider.currency}`,
          en: `this payment method takes ${provider.currency} only`,
        })
      }
      const { min = 0, max = Number.MAX_SAFE_INTEGER } = provider.waitMs ?? {}
      const order = await db.write(async (tx) => {
        // For the limit: inserts at the same time do not see each other's rows.
        await lockAccount(tx, account.id)
        if (actor.kind === 'account' && (await countPending(tx, account.id)) >= paymentLimits.pendingOrders) {
          throw new AppError(1002, {
            zh: `最多 ${paymentLimits.pendingOrders} 个待支付订单，请先支付或等待其到期`,
            en: `at most ${paymentLimits.pendingOrders} orders can wait for payment`,
          })
        }
        const row = await insertOrder(tx, {
          number: createOrderNumber(),
          accountId: account.id,
          packageCode: offer.code,
          packageName: offer.name,
          credits: creditsOf(offer),
          amount: offer.price,
          currency: offer.currency,
          provider: name,
          payToken: randomBytes(24).toString('base64url'),
          ttlMs: options.ttlMs,
          providerTtlMs: Math.min(max, Math.max(min, options.ttlMs)),
          firstQueryMs: Math.min(options.ttlMs, (schedule[0] ?? 0) * 1000),
        })
        await insertOrderEvent(tx, row.id, 'created', account.username)
        const details = { account: account.username, package: offer.code, amount: formatMinor(offer.price) }
        await recordChange(tx, actor, 'order.create', row.number, details)
        return row
      })
      const opened = await provider.open(order)
      await db.write(async (tx) => {
        if (opened.kind === 'opened') await updateOpened(tx, order.id, opened)
        else await insertOrderEvent(tx, order.id, 'open_failed', opened.reason)
        if (opened.kind === 'refused') await moveOrder(tx, order.id, 'close', opened.reason)
      })
      if (opened.kind !== 'opened') throw openFailed(order.number, opened.reason)
      return requireOrder(order.number)
    },

    check,

    async confirm(actor, number, note) {
      const order = await requireOrder(number)
      if (order.provider !== 'transfer') {
        throw new AppError(
          1005,
          {
            zh: '只有银行转账的订单可以人工确认',
            en: 'only orders paid by bank transfer can be confirmed',
          },
          { status: 409 },
        )
      }
      await db.write(async (tx) => {
        const current = await lockOrder(tx, order.id)
        if (current?.state !== 'pending' && current?.state !== 'closed') throw wrongState(current)
        await updateTrade(tx, order.id, { tradeNumber: '' })
        if (current.state === 'pending') await settle(tx, current, note)
        else await settleLate(tx, current, note)
        await planNextQuery(tx, order.id, schedule)
        await recordChange(tx, { ...actor, note }, 'order.confirm', order.number, {
          amount: formatMinor(order.amount),
          currency: order.currency,
        })
      })
      return requireOrder(number)
    },

    refuse,
  }
}

/** Why a payment is not the one of this order; undefined when everything agrees. */
export function findMismatch(
  order: Pick<OrderRow, 'number' | 'amount' | 'currency'>,
  paid: { readonly number: string; readonly amount: number; readonly currency: string },
): string | undefined {
  if (paid.number !== order.number) return 'order number differs'
  if (paid.currency !== order.currency)
    return `currency ${paid.currency.slice(0, 8)}, expected ${order.currency}`
  if (paid.amount !== order.amount) {
    return `amount ${paid.amount < 0 ? 'unreadable' : formatMinor(paid.amount)}, expected ${formatMinor(order.amount)}`
  }
  return undefined
}

export async function alert(
  tx: Tx,
  order: Pick<OrderRow, 'number' | 'provider'>,
  reason: string,
  /** Alerts about the same are sent once an hour. */
  about: string = order.number,
): Promise<void> {
  const data = { number: order.number, provider: order.provider, reason }
  await emitToOperators(tx, 'platform.payment_mismatch', data, `platform.payment_mismatch ${about}`)
}

export function orderNotFound(): AppError {
  return new AppError(1002, { zh: '订单不存在', en: 'no such order' }, { status: 404 })
}

export function wrongState(order: OrderRow | undefined): AppError {
  const name = order && orderStateNames[order.state]
  return new AppError(
    1005,
    {
      zh: `订单状态为“${name?.zh ?? '未知'}”，不能执行此操作`,
      en: `not possible: the status of the order is “${name?.en ?? 'unknown'}”`,
    },
    { status: 409 },
  )
}

function openFailed(number: string, reason: string): AppError {
  return new AppError(
    1005,
    {
      zh: `支付渠道没有返回有效响应（${reason}），订单 ${number} 未能发起支付，请稍后重新下单`,
      en: `the provider gave no valid answer (${reason}); order ${number} cannot be paid, please order again later`,
    },
    { status: 502 },
  )
}
