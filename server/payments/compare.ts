// Finds the difference between one row of a bill and our orders, or of one of our orders that is in no bill.
import { formatMinor, type PaymentProviderName, settledByReconciliation } from '../../contract/payments.ts'
import type { BillRow } from './bills/bill.ts'
import { findMismatch } from './orders.ts'
import type { PaymentStatus } from './port.ts'
import type { NewDifference } from './reconciliation-store.ts'
import type { RefundRow } from './refund-store.ts'
import type { OrderRow } from './store.ts'

export function describeMoney(minor: number, currency: string): string {
  return minor < 0 ? 'unreadable' : `${formatMinor(minor)} ${currency.slice(0, 8)}`
}

function describeRow({ amount, currency, tradeNumber }: BillRow): string {
  return `${describeMoney(amount, currency)} ${tradeNumber.slice(0, 64)}`.trim()
}

function describeOrder(order: OrderRow): string {
  return `${order.state} ${describeMoney(order.amount, order.currency)}`
}

/** A payment in the bill. `settle` makes up for a payment that we missed. */
export async function comparePayment(
  row: BillRow,
  order: OrderRow | undefined,
  provider: PaymentProviderName,
  settle: (number: string) => Promise<boolean>,
): Promise<NewDifference[]> {
  const base = { orderNumber: row.orderNumber, theirs: describeRow(row) }
  if (!order || order.provider !== provider) {
    return [{ ...base, kind: 'unknown_order', ours: order ? `paid by ${order.provider}` : 'none' }]
  }
  const ours = describeOrder(order)
  if (row.amount !== order.amount || row.currency !== order.currency)
    return [{ ...base, kind: 'amount', ours }]
  if (order.paid_at === null) {
    const isSettled = await settle(row.orderNumber)
    return [{ ...base, kind: 'not_granted', ours, ...(isSettled && { resolution: settledByReconciliation }) }]
  }
  const isOther =
    Boolean(order.trade_number) && row.tradeNumber !== '' && order.trade_number !== row.tradeNumber
  return isOther ? [{ ...base, kind: 'paid_twice', ours: `${ours} ${order.trade_number}` }] : []
}

/** A refund in the bill. */
export function compareRefund(
  row: BillRow,
  refund: RefundRow | undefined,
  order: OrderRow | undefined,
): NewDifference[] {
  const { orderNumber } = row
  const theirs = `${describeMoney(row.amount, row.currency)} ${row.refundNumber.slice(0, 64)}`.trim()
  // Refunded on the provider's own pages: the credits were not taken back.
  if (!refund || refund.order_id !== order?.id) return [{ orderNumber, kind: 'refund', ours: 'none', theirs }]
  const isSame = refund.amount === row.amount && order.currency === row.currency
  if (isSame && refund.state !== 'failed') return []
  const ours = `${refund.state} ${describeMoney(refund.amount, order.currency)} ${refund.number}`
  return [{ orderNumber, kind: 'refund', ours, theirs }]
}

/** An order that we recorded as paid and that is in no bill, with the provider's own answer about it. */
export function compareOrder(order: OrderRow, status: PaymentStatus): NewDifference[] {
  const base = { orderNumber: order.number, ours: describeOrder(order) }
  switch (status.kind) {
    case 'paid': {
      const problem = findMismatch(order, status)
      return problem === undefined ? [] : [{ ...base, kind: 'amount', theirs: problem }]
    }
    case 'unknown':
      return [{ ...base, kind: 'no_answer', theirs: status.reason }]
    default: {
      // A refunded payment is closed at some providers.
      if (status.kind !== 'unpaid' && order.refunded > 0) return []
      const theirs = status.kind === 'contradiction' ? status.reason : status.kind
      return [{ ...base, kind: 'not_paid', theirs }]
    }
  }
}
