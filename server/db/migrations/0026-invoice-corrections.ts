// Invoice requests that their holder withdrew, invoices corrected after a refund, and sums of a reconciled day by currency.
import type { Migration } from './migration.ts'

export const invoiceCorrections: Migration = {
  name: '0026-invoice-corrections',
  async run(tx) {
    // The state of a withdrawn request is `rejected`: previous versions know no other that frees its orders.
    await tx.run('ALTER TABLE invoice ADD COLUMN withdrawn integer NOT NULL DEFAULT 0')
    await tx.run('ALTER TABLE invoice ADD COLUMN corrected_amount bigint')
    await tx.run('CREATE INDEX payment_order_refunded ON payment_order (id) WHERE refunded > 0')
    await tx.run('ALTER TABLE payment_reconciliation ADD COLUMN sums text')
  },
}
