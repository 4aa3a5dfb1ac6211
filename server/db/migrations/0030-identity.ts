// What is kept of identity verifications: masks, a keyed hash and the verdict. Never a name, never a number.
import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'

export const migration: Migration = async (tx, column) => {
  const db = tx.kysely

  await db.schema
    .createTable('identity_record')
    .addColumn('id', ...column.identity)
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('name_mask', 'text', (c) => c.notNull())
    .addColumn('number_mask', 'text', (c) => c.notNull())
    .addColumn('person_hash', 'text', (c) => c.notNull())
    .addColumn('generation', 'integer', (c) => c.notNull())
    .addColumn('verdict', 'text', (c) => c.notNull())
    .addColumn('gateway', 'text')
    .addColumn('reason', 'text')
    .addColumn('operation_id', 'bigint', (c) => c.notNull())
    .addColumn('request_id', 'text', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addCheckConstraint(
      'identity_record_verdict',
      sql`verdict IN ('match', 'mismatch', 'no_record', 'failed')`,
    )
    .execute()
  await db.schema
    .createIndex('identity_record_history')
    .on('identity_record')
    .columns(['account_id', 'id'])
    .execute()
  await db.schema
    .createIndex('identity_record_repeat')
    .on('identity_record')
    .columns(['account_id', 'person_hash'])
    .execute()
  await db.schema.createIndex('identity_record_age').on('identity_record').column('at').execute()
}
