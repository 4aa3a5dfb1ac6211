// Packages, orders and refunds as the command line and the console show them.
import type { ApiType } from '../../contract/credits.ts'
import { formatMinor } from '../../contract/payments.ts'
import { formatTime } from '../../contract/time.ts'
import { creditsOf } from './packages.ts'
import type { PackageRow } from './package-store.ts'
import type { ReconciliationRow, Sums } from './reconciliation-store.ts'
import type { RefundRow } from './refund-store.ts'
import type { OrderItem, OrderRow } from './store.ts'

export function packageView(row: PackageRow) {
  return {
    code: row.code,
    name: row.name,
    credits: creditsOf(row),
    price: formatMinor(row.price),
    currency: row.currency,
    hidden: row.hidden === 1,
  }
}

/** What the payer needs. Addresses are shown only while the order can be paid. */
export function paymentView(order: OrderRow) {
  const isOpen = order.state === 'pending'
  return {
    number: order.number,
    state: order.state,
    amount: formatMinor(order.amount),
    currency: order.currency,
    ...(isOpen && order.pay_url !== null && { pay_url: order.pay_url }),
    ...(isOpen && order.code_url !== null && { code_url: order.code_url }),
  }
}

export function orderView(order: OrderRow, username: string) {
  return {
    number: order.number,
    account: username,
    package: order.package_code,
    state: order.state,
    amount: formatMinor(order.amount),
    currency: order.currency,
    provider: order.provider,
    refunded: formatMinor(order.refunded),
    created_at: formatTime(order.created_at),
    expires_at: formatTime(order.expires_at),
    paid_at: order.paid_at === null ? null : formatTime(order.paid_at),
  }
}

export function refundView(refund: RefundRow) {
  return {
    number: refund.number,
    amount: formatMinor(refund.amount),
    state: refund.state,
    credits: JSON.parse(refund.credits) as Partial<Record<ApiType, number>>,
    reason: refund.last_reason,
    note: refund.note,
    requested_by: refund.requested_by,
    created_at: formatTime(refund.created_at),
  }
}

export function itemsView(items: readonly OrderItem[]): Partial<Record<ApiType, number>> {
  return Object.fromEntries(items.map(({ api_type: type, amount }) => [type, amount]))
}

/** What both sides of a reconciled day have by currency, in alphabetical order. */
export function sumsView({ sums }: Pick<ReconciliationRow, 'sums'>) {
  const stored =
    sums === null ? { ours: {}, theirs: {} } : (JSON.parse(sums) as Record<'ours' | 'theirs', Sums>)
  const view = (side: Sums) =>
    Object.entries(side)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([currency, { amount, refundAmount }]) => ({
        currency,
        amount: formatMinor(amount),
        refund_amount: formatMinor(refundAmount),
      }))
  return { ours: view(stored.ours), theirs: view(stored.theirs) }
}
