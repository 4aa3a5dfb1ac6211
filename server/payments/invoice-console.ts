// Console routes for invoices: requests of an account, and the operator's queue.
import { Readable } from 'node:stream'
import { operatorPaymentRoutes, paymentRoutes } from '../../contract/console/payments.ts'
import type { Invoice } from '../../contract/console/responses/payments.ts'
import { formatMinor, paymentLimits } from '../../contract/payments.ts'
import { requireConfirmation } from '../console/confirmation.ts'
import { operatorOf } from '../console/operator-actor.ts'
import { readSlice } from '../console/fields.ts'
import { notFound } from '../console/problem.ts'
import type { Api } from '../console/routes.ts'
import type { Services } from '../services.ts'
import {
  findInvoice,
  findInvoiceable,
  type InvoicedOrder,
  type ListedInvoice,
  listInvoicedOrders,
  listInvoices,
} from './invoice-store.ts'
import { createInvoices } from './invoices.ts'

const pdf = 'application/pdf'

export function invoicePages(api: Api, { db, secretKey }: Services): void {
  const invoices = createInvoices(db, secretKey)

  async function readList(
    search: Parameters<typeof listInvoices>[1],
    input: { readonly size?: number },
  ): Promise<{ items: readonly Invoice[]; next: number | null }> {
    const orders: InvoicedOrder[] = []
    return readSlice(
      input,
      async (limit) => {
        const rows = await listInvoices(db, search, limit)
        const ids = rows.map(({ id }) => id)
        orders.push(...(await listInvoicedOrders(db, ids)))
        return rows
      },
      (row) => invoiceOf(row, orders),
    )
  }

  async function viewOf(id: number): Promise<Invoice> {
    const row = await findInvoice(db, id)
    if (!row) throw notFound()
    return invoiceOf(row, await listInvoicedOrders(db, [id]))
  }

  api.account(paymentRoutes.invoices, async ({ account }, input) =>
    readList({ accountId: account.id, before: input.before }, input),
  )

  api.account(paymentRoutes.invoiceableOrders, async ({ account }) => {
    const orders = await findInvoiceable(db, account.id, paymentLimits.invoiceOrders)
    return {
      items: orders.map((order) => ({
        number: order.number,
        package_name: order.package_name,
        amount: formatMinor(order.amount - order.refunded),
        currency: order.currency,
        paid_at: order.paid_at ?? 0,
      })),
    }
  })

  api.account(paymentRoutes.requestInvoice, async ({ account }, input) =>
    viewOf(await invoices.request(account, input)),
  )

  api.account(paymentRoutes.withdrawInvoice, async (request) => {
    await invoices.withdraw(request.account, request.id())
    return viewOf(request.id())
  })

  api.accountFile(paymentRoutes.invoiceFile, async (request) => {
    const { name, content } = await invoices.readFile(request.account.id, request.id())
    return { name, content: Readable.from([content], { objectMode: false }), type: pdf }
  })

  api.operator(operatorPaymentRoutes.invoices, async (_request, input) =>
    readList({ state: input.state, refundedOnly: input.refunded, before: input.before }, input),
  )

  api.operator(operatorPaymentRoutes.issueInvoice, async (request, input) => {
    requireConfirmation(request)
    const { number = '', file_name: fileName, file } = input
    await invoices.issue(operatorOf(request, input), request.id(), { number, fileName, file })
    return viewOf(request.id())
  })

  api.operator(operatorPaymentRoutes.rejectInvoice, async (request, input) => {
    requireConfirmation(request)
    const actor = operatorOf(request, input)
    await invoices.reject(actor, request.id(), actor.note ?? '')
    return viewOf(request.id())
  })

  api.operator(operatorPaymentRoutes.correctInvoice, async (request, input) => {
    requireConfirmation(request)
    await invoices.correct(operatorOf(request, input), request.id())
    return viewOf(request.id())
  })

  api.operatorFile(operatorPaymentRoutes.invoiceFile, async (request) => {
    const { name, content } = await invoices.readFile(undefined, request.id())
    return { name, content: Readable.from([content], { objectMode: false }), type: pdf }
  })
}

function invoiceOf(row: ListedInvoice, all: readonly InvoicedOrder[]): Invoice {
  const orders = all.filter((order) => order.invoice_id === row.id)
  const current = orders.reduce((sum, order) => sum + order.amount, 0)
  return {
    id: row.id,
    account: row.username,
    kind: row.kind,
    state: row.withdrawn === 1 ? 'withdrawn' : row.state,
    title: row.title,
    tax_number: row.tax_number,
    address: row.address,
    mail: row.mail,
    note: row.note,
    amount: formatMinor(row.amount),
    currency: row.currency,
    current_amount: row.state === 'rejected' ? null : formatMinor(current),
    refunded_after_issue: row.state === 'issued' && current < (row.corrected_amount ?? row.amount),
    corrected_amount: row.corrected_amount === null ? null : formatMinor(row.corrected_amount),
    orders: orders.map(({ number }) => number),
    number: row.number,
    reason: row.reason,
    has_file: row.file_name !== null,
    created_at: row.created_at,
    ended_at: row.ended_at,
  }
}
