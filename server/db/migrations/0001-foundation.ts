// Settings of the installation, accounts with their one key, and the credit ledger.
import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'

export const migration: Migration = async (tx, column) => {
  const db = tx.kysely

  await db.schema
    .createTable('setting')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('value', 'text', (c) => c.notNull())
    .execute()

  await db.schema
    .createTable('account')
    .addColumn('id', ...column.identity)
    .addColumn('username', 'text', (c) => c.notNull().unique())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('password_hash', 'text', (c) => c.notNull())
    .addColumn('key_hash', 'text', (c) => c.unique())
    .addColumn('key_hint', 'text')
    .addColumn('key_created_at', 'bigint')
    .addColumn('expires_on', 'text')
    .addColumn('suspended', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('sms_enabled', 'integer', (c) => c.notNull().defaultTo(1))
    .addColumn('sign_name', 'text')
    .addColumn('rate_limit', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()

  // The checks are the last line of defence: even a wrong statement cannot make a balance negative.
  await db.schema
    .createTable('credit')
    .addColumn('account_id', 'bigint', (c) => c.notNull().references('account.id'))
    .addColumn('api_type', 'text', (c) => c.notNull())
    .addColumn('total', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('used', 'bigint', (c) => c.notNull().defaultTo(0))
    .addPrimaryKeyConstraint('credit_key', ['account_id', 'api_type'])
    .addCheckConstraint('credit_not_negative', sql`used >= 0 AND used <= total`)
    .execute()

  // No foreign keys here: they would cost a row lock for each charge, and `ledger check` finds strays.
  await db.schema
    .createTable('operation')
    .addColumn('id', ...column.identity)
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('api_type', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('cost', 'bigint', (c) => c.notNull())
    .addColumn('given_back', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('idempotency_key', 'text')
    .addColumn('fingerprint', 'text')
    .addColumn('response', 'text')
    .addColumn('lease_until', 'bigint')
    .addColumn('sends', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('request_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('ended_at', 'bigint')
    .addCheckConstraint('operation_state', sql`state IN ('held', 'settled', 'refunded')`)
    .addCheckConstraint('operation_amounts', sql`cost >= 0 AND given_back >= 0 AND given_back <= cost`)
    .execute()
  await db.schema
    .createIndex('operation_idempotency')
    .on('operation')
    .columns(['account_id', 'idempotency_key'])
    .unique()
    .where(sql.ref('idempotency_key'), 'is not', null)
    .execute()
  await db.schema
    .createIndex('operation_open')
    .on('operation')
    .column('lease_until')
    .where(sql.ref('state'), '=', sql.lit('held'))
    .execute()

  await db.schema
    .createTable('ledger')
    .addColumn('id', ...column.identity)
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('api_type', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('amount', 'bigint', (c) => c.notNull())
    .addColumn('balance_after', 'bigint', (c) => c.notNull())
    .addColumn('operation_id', 'bigint')
    .addColumn('note', 'text')
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addCheckConstraint('ledger_kind', sql`kind IN ('grant', 'adjust', 'charge', 'refund')`)
    .addCheckConstraint('ledger_balance', sql`balance_after >= 0`)
    .execute()
  await db.schema.createIndex('ledger_chain').on('ledger').columns(['account_id', 'api_type', 'id']).execute()
  await db.schema
    .createIndex('ledger_operation')
    .on('ledger')
    .column('operation_id')
    .where(sql.ref('operation_id'), 'is not', null)
    .execute()
}
