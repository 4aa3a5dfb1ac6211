// Delivery receipts that arrive before the response to the call that sends the message: the record does not have the gateway's id yet.
import type { Migration } from './migration.ts'

export const earlySmsReceipts: Migration = {
  name: '0032-early-sms-receipts',
  async run(tx) {
    await tx.run(`CREATE TABLE sms_early_receipt (
      gateway text NOT NULL,
      gateway_id text NOT NULL,
      phone text NOT NULL,
      state text NOT NULL,
      code text NOT NULL,
      received_at bigint NOT NULL,
      PRIMARY KEY (gateway, gateway_id, phone)
    )`)
    await tx.run('CREATE INDEX sms_early_receipt_time ON sms_early_receipt (received_at)')
  },
}
