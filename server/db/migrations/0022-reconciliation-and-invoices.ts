// What daily reconciliation and invoice requests need besides the tables of 0015.
import type { Migration } from './migration.ts'

export const reconciliationAndInvoices: Migration = {
  name: '0022-reconciliation-and-invoices',
  async run(tx) {
    // The day of the provider's bill that has the payment or refund.
    await tx.run('ALTER TABLE payment_order ADD COLUMN bill_day text')
    await tx.run('ALTER TABLE payment_refund ADD COLUMN bill_day text')

    for (const column of [
      'their_orders integer NOT NULL DEFAULT 0',
      'their_amount bigint NOT NULL DEFAULT 0',
      'refunds integer NOT NULL DEFAULT 0',
      'refund_amount bigint NOT NULL DEFAULT 0',
      'their_refunds integer NOT NULL DEFAULT 0',
      'their_refund_amount bigint NOT NULL DEFAULT 0',
      'attempts integer NOT NULL DEFAULT 0',
      'next_attempt_at bigint',
      'last_reason text',
    ]) {
      await tx.run(`ALTER TABLE payment_reconciliation ADD COLUMN ${column}`)
    }

    await tx.run('ALTER TABLE payment_difference ADD COLUMN resolved_at bigint')
    await tx.run('ALTER TABLE payment_difference ADD COLUMN resolved_by text')
    await tx.run(`ALTER TABLE payment_difference ADD COLUMN resolution text NOT NULL DEFAULT ''`)
    await tx.run('CREATE INDEX payment_difference_open ON payment_difference (id) WHERE resolved_at IS NULL')

    await tx.run(`ALTER TABLE invoice ADD COLUMN kind text NOT NULL DEFAULT 'normal'`)
    await tx.run(`ALTER TABLE invoice ADD COLUMN number text NOT NULL DEFAULT ''`)
  },
}
