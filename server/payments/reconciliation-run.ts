// One reconciliation: the provider's bill of a day against our orders and refunds, in both directions.
import {
  isOrderNumber,
  type PaymentDifferenceKind,
  type PaymentProviderName,
} from '../../contract/payments.ts'
import { dayMs, endOfDay, minuteMs, startOfDay } from '../../contract/time.ts'
import type { Database } from '../db/database.ts'
import { type Bill, BillProblem, type BillRow } from './bills/bill.ts'
import { compareOrder, comparePayment, compareRefund, describeMoney } from './compare.ts'
import { alert, type Orders } from './orders.ts'
import type { PaymentProvider } from './port.ts'
import {
  countDifferences,
  endReconciliation,
  findFirstDay,
  findOrdersByNumber,
  findRefundsByNumber,
  findUnbilledOrders,
  findUnbilledRefunds,
  insertDifference,
  markBilled,
  type NewDifference,
  type ReconciliationRow,
  renewLease,
  sumOurs,
  type Totals,
} from './reconciliation-store.ts'

export interface ReconciliationContext {
  readonly db: Database
  readonly orders: Orders
  readonly onDifference: (provider: PaymentProviderName, kind: PaymentDifferenceKind) => void
}

/** Renewed with every batch. Longer than a download and a batch of queries take. */
export const leaseMs = 10 * minuteMs
const batchSize = 200
/** Orders that are queried at the same time. */
const perTurn = 8
/** "No bill" is believed, although something was paid here, after this many attempts. */
const believeNoneAfter = 5
/** Differences of one day that are recorded; more mean that the whole bill is another one. */
const maxDifferences = 1_000
/** Refunds are in the bill of the day they were requested or done; after this many days they must be in one. */
const refundDays = 2

/** Works on a reconciliation whose lease this process holds. Returns the number of differences; throws `BillProblem`. */
export async function reconcileDay(
  { db, orders, onDifference }: ReconciliationContext,
  provider: PaymentProvider,
  row: ReconciliationRow,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { name } = provider
  const [start, end] = [startOfDay(row.day) ?? 0, endOfDay(row.day) ?? 0]
  const theirs = { orders: 0, amount: 0, refunds: 0, refundAmount: 0 }
  const sums = new Map<string, { amount: number; refundAmount: number }>()

  function addTheirs({ kind, currency }: BillRow, amount: number): void {
    const key = /^[A-Z]{3}$/.test(currency) ? currency : '?'
    const sum = sums.get(key) ?? { amount: 0, refundAmount: 0 }
    sums.set(key, sum)
    if (kind === 'refund') {
      theirs.refunds += 1
      theirs.refundAmount += amount
      sum.refundAmount += amount
    } else {
      theirs.orders += 1
      theirs.amount += amount
      sum.amount += amount
    }
  }

  async function commit(
    differences: readonly NewDifference[],
    billed: { readonly orders?: readonly number[]; readonly refunds?: readonly number[] },
    lastOrderId?: number,
  ): Promise<void> {
    if (signal?.aborted === true) throw new BillProblem('stopped')
    await db.write(async (tx) => {
      const renewed = await renewLease(tx, row, {
        leaseMs,
        ...(lastOrderId !== undefined && { lastOrderId }),
      })
      if (!renewed) throw new BillProblem('lease_lost')
      await markBilled(tx, 'payment_order', billed.orders ?? [], row.day)
      await markBilled(tx, 'payment_refund', billed.refunds ?? [], row.day)
      const room = maxDifferences - (await countDifferences(tx, row.id))
      for (const difference of differences.slice(0, Math.max(0, room))) {
        if (!(await insertDifference(tx, row.id, difference))) continue
        const { kind, orderNumber: number, ours, theirs: given } = difference
        const reason = `reconciliation ${row.day} ${kind}: ${ours} / ${given}`
        await alert(tx, { number, provider: name }, reason, `${row.day} ${number} ${kind}`)
        tx.afterCommit(() => onDifference(name, kind))
      }
    })
  }

  /** Theirs against ours. */
  async function compareBatch(rows: readonly BillRow[]): Promise<void> {
    const known = await findOrdersByNumber(
      db,
      rows.map((one) => one.orderNumber),
    )
    const refunds = await findRefundsByNumber(
      db,
      rows.flatMap(({ refundNumber }) => (refundNumber === '' ? [] : [refundNumber])),
    )
    const differences: NewDifference[] = []
    for (const one of rows) {
      addTheirs(one, Math.max(0, one.amount))
      const order = known.find(({ number }) => number === one.orderNumber)
      if (one.kind === 'refund') {
        const refund = refunds.find(({ number }) => number === one.refundNumber)
        differences.push(...compareRefund(one, refund, order))
        continue
      }
      differences.push(...(await comparePayment(one, order, name, settle)))
    }
    await commit(differences, {
      orders: known.filter(({ number }) => isPaidIn(rows, number)).map(({ id }) => id),
      refunds: refunds.map(({ id }) => id),
    })
  }

  /** The bill says paid: our own query decides, as after a notification. */
  async function settle(number: string): Promise<boolean> {
    const [order] = await findOrdersByNumber(db, [number])
    if (order) await orders.check(order)
    const [checked] = await findOrdersByNumber(db, [number])
    return typeof checked?.paid_at === 'number'
  }

  async function readBill(rows: AsyncIterable<BillRow>): Promise<void> {
    let batch: BillRow[] = []
    for await (const one of rows) {
      if (!isOrderNumber(one.orderNumber)) continue
      batch.push(one)
      if (batch.length < batchSize) continue
      await compareBatch(batch)
      batch = []
    }
    await compareBatch(batch)
  }

  /** Ours against theirs: what is in no bill is queried before it is reported. */
  async function findMissing(): Promise<void> {
    let afterId = row.last_order_id
    for (;;) {
      const missing = await findUnbilledOrders(db, name, { start, end, afterId, limit: perTurn })
      if (missing.length === 0) break
      const results = await Promise.all(
        missing.map(async (order) => compareOrder(order, await provider.query(order))),
      )
      afterId = missing.at(-1)!.id
      await commit(results.flat(), {}, afterId)
    }
    const firstDay = (await findFirstDay(db, name)) ?? row.day
    const lateMs = refundDays * dayMs
    const refunds = await findUnbilledRefunds(db, name, {
      start: start - lateMs,
      end: end - lateMs,
      since: startOfDay(firstDay) ?? 0,
      limit: maxDifferences,
    })
    const differences = refunds.map(({ order_number, amount, currency, number }): NewDifference => ({
      orderNumber: order_number,
      kind: 'refund',
      ours: `${describeMoney(amount, currency)} ${number}`,
      theirs: 'not in the bill',
    }))
    await commit(differences, {})
  }

  const ours = await sumOurs(db, name, { start, end })
  const bill = await fetchBill(provider, row.day)
  if (bill.kind === 'unknown') throw new BillProblem(bill.reason)
  const isEmptyHere = ours.orders + ours.refunds === 0
  if (bill.kind === 'none' && !isEmptyHere && row.attempts < believeNoneAfter)
    throw new BillProblem('no_bill')
  if (bill.kind === 'rows') await readBill(bill.rows)
  await findMissing()
  // A payment that only the bill shows counts too.
  const totals: Totals = await sumOurs(db, name, { start, end })
  await db.write((tx) =>
    endReconciliation(tx, row, totals, { ...theirs, byCurrency: Object.fromEntries(sums) }),
  )
  return countDifferences(db, row.id)
}

function isPaidIn(rows: readonly BillRow[], number: string): boolean {
  return rows.some((row) => row.kind === 'payment' && row.orderNumber === number)
}

async function fetchBill(provider: PaymentProvider, day: string): Promise<Bill> {
  if (!provider.fetchBill) return { kind: 'unknown', reason: 'no_bills' }
  return provider.fetchBill(day)
}
