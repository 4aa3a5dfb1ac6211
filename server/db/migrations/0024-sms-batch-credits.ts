// Stores what a finished batch cost: its operations are deleted when the ledger is compacted.
import type { Migration } from './migration.ts'

export const smsBatchCredits: Migration = {
  name: '0024-sms-batch-credits',
  async run(tx) {
    await tx.run('ALTER TABLE sms_batch ADD COLUMN credits_used bigint')
    await tx.run(`UPDATE sms_batch SET credits_used = (SELECT CAST(COALESCE(SUM(o.cost - o.given_back), 0) AS bigint)
        FROM sms_send s JOIN operation o ON o.id = s.operation_id WHERE s.batch_id = sms_batch.id)
      WHERE finished_at IS NOT NULL`)
  },
}
