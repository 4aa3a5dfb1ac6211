// Daily reconciliation: the provider's bill of a day against our orders and refunds, in both directions.
import { Counter, type Registry } from 'prom-client'
import type { PaymentProviderName } from '../../contract/payments.ts'
import { dayMs, endOfDay, formatDay, hourMs, minuteMs, startOfDay } from '../../contract/time.ts'
import type { Database } from '../db/database.ts'
import { type Bill, BillProblem, type BillRow } from './bills/bill.ts'
import { compareOrder, comparePayment, compareRefund, describeMoney } from './compare.ts'
import { isOrderNumber } from './order-number.ts'
import { alert, type Orders } from './orders.ts'
import type { PaymentProvider } from './port.ts'
import type { Providers } from './providers.ts'
import {
  countDifferences,
  endReconciliation,
  findFirstDay,
  findFirstOrderTime,
  findOrdersByNumber,
  findRefundsByNumber,
  findSettledDays,
  findUnbilledOrders,
  findUnbilledRefunds,
  insertDifference,
  insertReconciliation,
  leaseReconciliation,
  markBilled,
  type NewDifference,
  postponeReconciliation,
  type ReconciliationRow,
  renewLease,
  sumOurs,
  type Totals,
} from './reconciliation-store.ts'

export interface ReconcilerOptions {
  readonly db: Database
  readonly providers: Providers
  readonly orders: Orders
}

export type ReconciliationResult =
  | { readonly kind: 'done'; readonly differences: number }
  /** Tried again later. */
  | { readonly kind: 'postponed'; readonly reason: string }
  /** Another process works on it, or nothing is due. */
  | { readonly kind: 'busy' }

export interface Reconciler {
  /** Reconciles one day, also one that is done. */
  run(provider: PaymentProvider, day: string, options?: RunOptions): Promise<ReconciliationResult>
  /** Reconciles the days of every provider that are due. */
  runDue(now: number, signal: AbortSignal): Promise<void>
  readonly countIn: (registry: Registry) => void
}

interface RunOptions {
  readonly dueOnly?: boolean
  readonly signal?: AbortSignal
}

/** Renewed with every batch. Longer than a download and a batch of queries take. */
const leaseMs = 10 * minuteMs
const batchSize = 200
/** Orders that are queried at the same time. */
const perTurn = 8
/** Until the next attempt, by how many were made. */
const waitsMs = [10 * minuteMs, 30 * minuteMs, hourMs, 3 * hourMs, 6 * hourMs]
/** An operator is alerted when a bill is still missing after this many attempts. */
const alertAfter = 3
/** "No bill" is believed, although something was paid here, after this many attempts. */
const believeNoneAfter = 5
/** Differences of one day that are recorded; more mean that the whole bill is another one. */
const maxDifferences = 1_000
/** Bills are ready by 10:00; a day is due half an hour later. */
const readyAfterMs = 10 * hourMs + 30 * minuteMs
/** Days that are made up for, for example after a failure. */
const maxDays = 30
/** Refunds are in the bill of the day they were requested or done; after this many days they must be in one. */
const refundDays = 2

export function createReconciler({ db, providers, orders }: ReconcilerOptions): Reconciler {
  let runs: Counter<'provider' | 'result'> | undefined
  let found: Counter<'provider' | 'kind'> | undefined

  /** One reconciliation that holds its lease. */
  function createRun(provider: PaymentProvider, row: ReconciliationRow, signal: AbortSignal | undefined) {
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
          tx.afterCommit(() => found?.inc({ provider: name, kind }))
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

    /** Ours against theirs: what is in no bill is asked for before it is reported. */
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

    return {
      async run(): Promise<ReconciliationResult> {
        const ours = await sumOurs(db, name, { start, end })
        const bill = await openBill(provider, row.day)
        if (bill.kind === 'unknown') throw new BillProblem(bill.reason)
        const isEmptyHere = ours.orders + ours.refunds === 0
        if (bill.kind === 'none' && !isEmptyHere && row.attempts < believeNoneAfter)
          throw new BillProblem('no_bill')
        if (bill.kind === 'rows') await readBill(bill.rows)
        await findMissing()
        // A payment that only the bill told us of counts too.
        const totals: Totals = await sumOurs(db, name, { start, end })
        await db.write((tx) =>
          endReconciliation(tx, row, totals, { ...theirs, byCurrency: Object.fromEntries(sums) }),
        )
        return { kind: 'done', differences: await countDifferences(db, row.id) }
      },
    }
  }

  async function postpone(row: ReconciliationRow, reason: string): Promise<ReconciliationResult> {
    await db.write(async (tx) => {
      const waitMs = waitsMs[Math.min(row.attempts, waitsMs.length) - 1] ?? waitsMs[0]!
      await postponeReconciliation(tx, row, { waitMs, reason })
      if (row.attempts < alertAfter) return
      await alert(tx, { number: row.day, provider: row.provider }, `bill not available: ${reason}`)
    })
    return { kind: 'postponed', reason }
  }

  async function run(
    provider: PaymentProvider,
    day: string,
    { dueOnly = false, signal }: RunOptions = {},
  ): Promise<ReconciliationResult> {
    const row = await db.write(async (tx) => {
      await insertReconciliation(tx, provider.name, day)
      return leaseReconciliation(tx, provider.name, day, { leaseMs, dueOnly })
    })
    if (!row) return { kind: 'busy' }
    let result: ReconciliationResult
    try {
      result = await createRun(provider, row, signal).run()
    } catch (error) {
      if (!(error instanceof BillProblem)) {
        await postpone(row, 'internal_error')
        throw error
      }
      result = await postpone(row, error.message)
    }
    runs?.inc({ provider: provider.name, result: result.kind })
    return result
  }

  return {
    run,

    async runDue(now, signal) {
      const lastDay = formatDay(now - readyAfterMs - dayMs)
      for (const provider of providers.values()) {
        if (!provider.openBill || signal.aborted) continue
        for (const day of await findDueDays(db, provider.name, lastDay)) {
          if (signal.aborted) return
          await run(provider, day, { dueOnly: true, signal })
        }
      }
    },

    countIn(registry) {
      runs = new Counter({
        name: 'tollgate_payment_reconciliations_total',
        help: 'Attempts to reconcile a day with the bill of a payment provider, by result',
        labelNames: ['provider', 'result'],
        registers: [registry],
      })
      found = new Counter({
        name: 'tollgate_payment_differences_total',
        help: 'Differences between our orders and the bills of payment providers',
        labelNames: ['provider', 'kind'],
        registers: [registry],
      })
    },
  }
}

function isPaidIn(rows: readonly BillRow[], number: string): boolean {
  return rows.some((row) => row.kind === 'payment' && row.orderNumber === number)
}

async function openBill(provider: PaymentProvider, day: string): Promise<Bill> {
  if (!provider.openBill) return { kind: 'unknown', reason: 'no_bills' }
  return provider.openBill(day)
}

/** Oldest first. Without any order nothing is asked of a provider. */
async function findDueDays(db: Database, provider: PaymentProviderName, lastDay: string): Promise<string[]> {
  const firstOrder = await findFirstOrderTime(db, provider)
  const last = startOfDay(lastDay)
  if (firstOrder === undefined || last === undefined) return []
  const first = Math.max(startOfDay(formatDay(firstOrder)) ?? 0, last - (maxDays - 1) * dayMs)
  if (first > last) return []
  const settled = await findSettledDays(db, provider, formatDay(first))
  const days = Array.from({ length: Math.round((last - first) / dayMs) + 1 }, (_one, index) =>
    formatDay(first + index * dayMs),
  )
  return days.filter((day) => !settled.has(day))
}
