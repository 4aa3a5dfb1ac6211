// What waits for an operator: the numbers on menu entries, and lines of the overview.
import { operatorRoutes } from '../../../contract/console/operator.ts'
import type { Waiting } from '../../../contract/console/responses/operator.ts'
import type { Api } from '../routes.ts'

/** How each kind of waiting work is counted; connected in console.ts, which knows the products. */
export interface WaitingSources {
  readonly reviews: () => Promise<number>
  readonly reports: () => Promise<number>
  readonly blockedDomains: () => Promise<readonly string[]>
  readonly invoices: () => Promise<number>
  readonly refundedInvoices: () => Promise<number>
  readonly paymentDifferences: () => Promise<number>
}

export function waitingPages(api: Api, sources: WaitingSources): void {
  api.operator(operatorRoutes.waiting, async (): Promise<Waiting> => ({
    reviews: await sources.reviews(),
    reports: await sources.reports(),
    blocked_domains: [...(await sources.blockedDomains())],
    invoices: await sources.invoices(),
    refunded_invoices: await sources.refundedInvoices(),
    payment_differences: await sources.paymentDifferences(),
  }))
}
