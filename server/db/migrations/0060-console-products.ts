// What the console's product pages keep: signature requests, checks by hand, and the account's own wishes for a watched domain.
import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'

export const migration: Migration = async (tx, column) => {
  const db = tx.kysely

  // When the carrier's word on a message came.
  await db.schema.alterTable('sms_send').addColumn('receipt_at', 'bigint').execute()

  // One per account: what is asked for now, or was decided last.
  await db.schema
    .createTable('sms_signature')
    .addColumn('id', ...column.identity)
    .addColumn('account_id', 'bigint', (c) => c.notNull().unique())
    .addColumn('sign_name', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull().defaultTo(''))
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addCheckConstraint('sms_signature_status', sql`status IN ('审核中', '审核通过', '审核不通过')`)
    .execute()

  await db.schema
    .createTable('domain_run')
    .addColumn('id', ...column.identity)
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('operation_id', 'bigint', (c) => c.notNull())
    .addColumn('idempotency_key', 'text')
    .addColumn('fingerprint', 'text', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addColumn('total', 'integer', (c) => c.notNull())
    .addColumn('done', 'integer', (c) => c.notNull())
    .addColumn('finished', 'integer', (c) => c.notNull().defaultTo(0))
    // JSON lists of the same length: what was asked, and the verdicts so far.
    .addColumn('items', 'text', (c) => c.notNull())
    .addColumn('results', 'text', (c) => c.notNull())
    // JSON object: how many of the results are which.
    .addColumn('counts', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('domain_run_list').on('domain_run').columns(['account_id', 'id']).execute()
  await db.schema.createIndex('domain_run_age').on('domain_run').column('at').execute()
  await db.schema
    .createIndex('domain_run_repeat')
    .on('domain_run')
    .columns(['account_id', 'idempotency_key'])
    .unique()
    .where(sql.ref('idempotency_key'), 'is not', null)
    .execute()

  // A number for each link domain, and what the last look at it brought. Rows are never deleted, so the next number is free.
  await db.schema.alterTable('link_domain').addColumn('id', 'bigint').execute()
  await db.schema.alterTable('link_domain').addColumn('probed_at', 'bigint').execute()
  await db.schema
    .alterTable('link_domain')
    .addColumn('probe_failed', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await sql`UPDATE link_domain SET id = (SELECT COUNT(*) FROM link_domain other WHERE other.host <= link_domain.host)`.execute(
    db,
  )
  await db.schema.createIndex('link_domain_id').on('link_domain').column('id').unique().execute()

  // Null: every so often as the settings say. `stopped`: by the account itself, until it says otherwise.
  await db.schema.alterTable('domain_watch').addColumn('every_minutes', 'integer').execute()
  await db.schema
    .alterTable('domain_watch')
    .addColumn('stopped', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
