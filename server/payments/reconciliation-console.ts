// Console routes of the operator for reconciliation: the days, the differences, and running a day again.
import { operatorPaymentRoutes } from '../../contract/console/payments.ts'
import type { PaymentDifference, Reconciliation } from '../../contract/console/responses/payments.ts'
import { formatMinor } from '../../contract/payments.ts'
import { readSlice } from '../console/fields.ts'
import { operatorOf } from '../console/operator-actor.ts'
import { notFound } from '../console/problem.ts'
import type { Api } from '../console/routes.ts'
import type { Services } from '../services.ts'
import type { Payments } from './payments.ts'
import { reconcileNow, resolve } from './reconcile-now.ts'
import { sumsView } from './views.ts'
import {
  type ListedDifference,
  listDifferences,
  listReconciliations,
  type ReconciliationRow,
} from './reconciliation-store.ts'

export function reconciliationPages(api: Api, { db }: Services, payments: Payments): void {
  const { providers } = payments

  api.operator(operatorPaymentRoutes.reconciliations, async (_request, input) => {
    const slice = await readSlice(
      input,
      (limit) => listReconciliations(db, { before: input.before, limit }),
      reconciliationOf,
    )
    const withBills = [...providers.values()].filter((provider) => provider.fetchBill !== undefined)
    return { ...slice, providers: withBills.map(({ name }) => name) }
  })

  api.operator(operatorPaymentRoutes.reconcile, async (request, input) => {
    const { provider, day } = input
    const result = await reconcileNow(db, payments, operatorOf(request, input), { provider, day })
    return {
      result: result.kind,
      reason: result.kind === 'postponed' ? result.reason : null,
      differences: result.kind === 'done' ? result.differences : 0,
    }
  })

  api.operator(operatorPaymentRoutes.differences, async (_request, input) =>
    readSlice(
      input,
      (limit) =>
        listDifferences(db, {
          reconciliationId: input.reconciliation,
          openOnly: input.open === true,
          before: input.before,
          limit,
        }),
      differenceOf,
    ),
  )

  api.operator(operatorPaymentRoutes.resolveDifference, async (request, input) => {
    const id = request.id()
    await resolve(db, operatorOf(request, input), id)
    const [row] = await listDifferences(db, { openOnly: false, before: id + 1, limit: 1 })
    if (!row) throw notFound()
    return differenceOf(row)
  })
}

function reconciliationOf(row: ReconciliationRow & { readonly open: number }): Reconciliation {
  const sums = sumsView(row)
  // Stripe takes several currencies, whose sum says nothing.
  const money = (minor: number) => (row.provider === 'stripe' ? null : formatMinor(minor))
  return {
    id: row.id,
    provider: row.provider,
    day: row.day,
    state: row.state,
    ours: {
      orders: row.orders,
      refunds: row.refunds,
      amount: money(row.amount),
      refund_amount: money(row.refund_amount),
      sums: sums.ours,
    },
    theirs: {
      orders: row.their_orders,
      refunds: row.their_refunds,
      amount: money(row.their_amount),
      refund_amount: money(row.their_refund_amount),
      sums: sums.theirs,
    },
    differences: row.differences,
    open: Number(row.open),
    reason: row.last_reason,
    attempts: row.attempts,
    at: row.at,
    next_attempt_at: row.next_attempt_at,
  }
}

function differenceOf(row: ListedDifference): PaymentDifference {
  return {
    id: row.id,
    provider: row.provider,
    day: row.day,
    order_number: row.order_number,
    kind: row.kind,
    ours: row.ours,
    theirs: row.theirs,
    at: row.at,
    resolved_at: row.resolved_at,
    resolved_by: row.resolved_by,
    resolution: row.resolution,
  }
}
