// Daily reconciliation: which days are due, attempts and their result.
import { Counter, type Registry } from 'prom-client'
import { paymentDifferenceKinds, type PaymentProviderName } from '../../contract/payments.ts'
import { dayMs, formatDay, hourMs, minuteMs, startOfDay } from '../../contract/time.ts'
import type { Database } from '../db/database.ts'
import { BillProblem } from './bills/bill.ts'
import { alert, type Orders } from './orders.ts'
import type { PaymentProvider } from './port.ts'
import type { Providers } from './providers.ts'
import { leaseMs, reconcileDay, type ReconciliationContext } from './reconciliation-run.ts'
import {
  findFirstOrderTime,
  findSettledDays,
  insertReconciliation,
  leaseReconciliation,
  maxReconciliationWaitMs,
  postponeReconciliation,
  type ReconciliationRow,
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

/** Until the next attempt, by how many were made. */
const waitsMs = [10 * minuteMs, 30 * minuteMs, hourMs, 3 * hourMs, maxReconciliationWaitMs]
/** An operator is alerted when a bill is still missing after this many attempts. */
const alertAfter = 3
/** Bills are ready by 10:00; a day is due half an hour later. */
const readyAfterMs = 10 * hourMs + 30 * minuteMs
/** Days that are made up for, for example after a failure. */
const maxDays = 30

export function createReconciler({ db, providers, orders }: ReconcilerOptions): Reconciler {
  let runs: Counter<'provider' | 'result'> | undefined
  let found: Counter<'provider' | 'kind'> | undefined
  const context: ReconciliationContext = {
    db,
    orders,
    onDifference: (provider, kind) => found?.inc({ provider, kind }),
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
      result = { kind: 'done', differences: await reconcileDay(context, provider, row, signal) }
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
        if (!provider.fetchBill || signal.aborted) continue
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
      for (const { name: provider, fetchBill } of providers.values()) {
        if (!fetchBill) continue
        for (const result of ['done', 'postponed']) runs.inc({ provider, result }, 0)
        for (const kind of Object.keys(paymentDifferenceKinds)) found.inc({ provider, kind }, 0)
      }
    },
  }
}

/** Oldest first. Without any order no bill is requested. */
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
