// The console: sessions, the log of API calls with its counts by day, redeem codes, the audit log.
import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'

export const migration: Migration = async (tx, column) => {
  const db = tx.kysely

  await db.schema
    .createTable('console_session')
    .addColumn('id', ...column.identity)
    .addColumn('token_hash', 'text', (c) => c.notNull().unique())
    .addColumn('account_id', 'bigint', (c) => c.notNull().references('account.id'))
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('agent', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('seen_at', 'bigint', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('console_session_account').on('console_session').column('account_id').execute()

  // What is personal in a call is masked before it comes here.
  await db.schema
    .createTable('request_log')
    .addColumn('id', ...column.identity)
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('request_id', 'text', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addColumn('endpoint', 'text', (c) => c.notNull())
    .addColumn('action', 'text')
    .addColumn('method', 'text', (c) => c.notNull())
    .addColumn('status', 'integer', (c) => c.notNull())
    .addColumn('code', 'integer', (c) => c.notNull())
    .addColumn('ok', 'integer', (c) => c.notNull())
    .addColumn('message', 'text')
    .addColumn('duration_us', 'bigint', (c) => c.notNull())
    .addColumn('gateway', 'text')
    .addColumn('charged', 'bigint', (c) => c.notNull())
    .addColumn('given_back', 'bigint', (c) => c.notNull())
    .addColumn('replayed', 'integer', (c) => c.notNull())
    .addColumn('idempotent', 'integer', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('parameters', 'text', (c) => c.notNull())
    .addColumn('answer', 'text')
    .addColumn('steps', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('request_log_account').on('request_log').columns(['account_id', 'id']).execute()
  await db.schema
    .createIndex('request_log_failed')
    .on('request_log')
    .columns(['account_id', 'id'])
    .where(sql.ref('ok'), '=', sql.lit(0))
    .execute()
  await db.schema.createIndex('request_log_request').on('request_log').column('request_id').execute()
  await db.schema.createIndex('request_log_at').on('request_log').column('at').execute()

  // What a call can be found by: keyed hashes of phone numbers, serial numbers, short codes.
  await db.schema
    .createTable('request_term')
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('term', 'text', (c) => c.notNull())
    .addColumn('request_id', 'text', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('request_term_key', ['account_id', 'term', 'request_id'])
    .execute()
  await db.schema.createIndex('request_term_at').on('request_term').column('at').execute()

  // Counts outlive the calls they count. Account 0 is the platform as a whole.
  await db.schema
    .createTable('call_day')
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('endpoint', 'text', (c) => c.notNull())
    .addColumn('code', 'integer', (c) => c.notNull())
    .addColumn('calls', 'bigint', (c) => c.notNull())
    .addColumn('succeeded', 'bigint', (c) => c.notNull())
    .addColumn('paid', 'bigint', (c) => c.notNull())
    .addColumn('credits', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('call_day_key', ['account_id', 'day', 'endpoint', 'code'])
    .execute()

  await db.schema
    .createTable('redeem_batch')
    .addColumn('id', ...column.identity)
    .addColumn('api_type', 'text', (c) => c.notNull())
    .addColumn('amount', 'bigint', (c) => c.notNull())
    .addColumn('count', 'integer', (c) => c.notNull())
    .addColumn('expires_on', 'text')
    .addColumn('note', 'text', (c) => c.notNull())
    .addColumn('created_by', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addCheckConstraint('redeem_batch_amount', sql`amount > 0`)
    .execute()
  await db.schema
    .createTable('redeem_code')
    .addColumn('id', ...column.identity)
    .addColumn('batch_id', 'bigint', (c) => c.notNull().references('redeem_batch.id'))
    .addColumn('code_hash', 'text', (c) => c.notNull().unique())
    .addColumn('hint', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('account_id', 'bigint')
    .addColumn('redeemed_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .addCheckConstraint('redeem_code_state', sql`state IN ('unused', 'redeemed', 'revoked')`)
    .execute()
  await db.schema
    .createIndex('redeem_code_batch')
    .on('redeem_code')
    .columns(['batch_id', 'state', 'id'])
    .execute()

  await db.schema
    .createTable('audit')
    .addColumn('id', ...column.identity)
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addColumn('actor', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('target', 'text', (c) => c.notNull())
    .addColumn('note', 'text', (c) => c.notNull())
    .addColumn('details', 'text', (c) => c.notNull())
    .execute()

  // Grants and refunds are few among many charges; this finds them without making a charge dearer.
  await db.schema
    .createIndex('ledger_not_charges')
    .on('ledger')
    .columns(['account_id', 'kind', 'id'])
    .where(sql.ref('kind'), '<>', sql.lit('charge'))
    .execute()
}
