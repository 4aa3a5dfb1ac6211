// SMS batches, and the queue of messages that wait to be sent.
import type { Migration } from './migration.ts'

export const smsBatches: Migration = {
  name: '0014-sms-batches',
  async run(tx, { identity, integerKey }) {
    await tx.run(`CREATE TABLE sms_batch (
      id ${identity},
      account_id bigint NOT NULL,
      template_code text NOT NULL,
      content text NOT NULL,
      sign_name text NOT NULL,
      marketing integer NOT NULL DEFAULT 0,
      send_at bigint,
      total integer NOT NULL,
      pending integer NOT NULL,
      waiting integer NOT NULL,
      next_at bigint,
      served_at bigint NOT NULL DEFAULT 0,
      created_at bigint NOT NULL,
      finished_at bigint
    )`)
    await tx.run('CREATE INDEX sms_batch_account ON sms_batch (account_id, id)')
    await tx.run('CREATE INDEX sms_batch_open ON sms_batch (account_id) WHERE finished_at IS NULL')
    await tx.run('CREATE INDEX sms_batch_due ON sms_batch (next_at) WHERE next_at IS NOT NULL')

    // Only messages that wait: taking one deletes its row. Its operation is held without a lease until then.
    await tx.run(`CREATE TABLE sms_queue (
      send_id ${integerKey},
      batch_id bigint NOT NULL,
      account_id bigint NOT NULL,
      operation_id bigint NOT NULL,
      planned_at bigint NOT NULL,
      due_at bigint NOT NULL,
      tries integer NOT NULL DEFAULT 0,
      retry_until bigint
    )`)
    await tx.run('CREATE INDEX sms_queue_batch ON sms_queue (batch_id, due_at, send_id)')

    await tx.run('ALTER TABLE sms_send ADD COLUMN batch_id bigint')
    // When a message of a batch left the queue.
    await tx.run('ALTER TABLE sms_send ADD COLUMN sent_at bigint')
    await tx.run('CREATE INDEX sms_send_batch ON sms_send (batch_id, id) WHERE batch_id IS NOT NULL')
  },
}
