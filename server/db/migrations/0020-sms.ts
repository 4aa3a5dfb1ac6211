// SMS: templates, send records, and the counters behind the limits of single numbers.
import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'

export const migration: Migration = async (tx, column) => {
  const db = tx.kysely

  // A template without an account is shared by the operator.
  await db.schema
    .createTable('sms_template')
    .addColumn('id', ...column.identity)
    .addColumn('account_id', 'bigint', (c) => c.references('account.id'))
    .addColumn('code', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('content', 'text', (c) => c.notNull())
    .addColumn('variables', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull().defaultTo(''))
    .addColumn('gateway_codes', 'text', (c) => c.notNull().defaultTo('{}'))
    .addColumn('revision', 'integer', (c) => c.notNull().defaultTo(1))
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addCheckConstraint('sms_template_status', sql`status IN ('审核中', '审核通过', '审核不通过')`)
    .execute()
  await db.schema
    .createIndex('sms_template_own')
    .on('sms_template')
    .columns(['account_id', 'code'])
    .unique()
    .where(sql.ref('account_id'), 'is not', null)
    .execute()
  await db.schema
    .createIndex('sms_template_shared')
    .on('sms_template')
    .column('code')
    .unique()
    .where(sql.ref('account_id'), 'is', null)
    .execute()

  // The biz_id is made of `id`, so the primary key finds it. No foreign keys: they would cost a lock for each send.
  await db.schema
    .createTable('sms_send')
    .addColumn('id', ...column.identity)
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('operation_id', 'bigint', (c) => c.notNull())
    .addColumn('phone', 'text', (c) => c.notNull())
    .addColumn('template_code', 'text', (c) => c.notNull())
    .addColumn('template_params', 'text', (c) => c.notNull())
    .addColumn('sign_name', 'text', (c) => c.notNull())
    .addColumn('parts', 'integer', (c) => c.notNull())
    .addColumn('gateway', 'text', (c) => c.notNull())
    .addColumn('gateway_id', 'text')
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('success', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('charged', 'integer', (c) => c.notNull().defaultTo(1))
    .addColumn('problem', 'text', (c) => c.notNull().defaultTo(''))
    .addColumn('problem_code', 'text', (c) => c.notNull().defaultTo(''))
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addCheckConstraint(
      'sms_send_state',
      sql`state IN ('sending', 'accepted', 'delivered', 'undelivered', 'refused', 'unknown')`,
    )
    .execute()
  await db.schema
    .createIndex('sms_send_time')
    .on('sms_send')
    .columns(['account_id', 'created_at', 'id'])
    .execute()
  await db.schema
    .createIndex('sms_send_phone')
    .on('sms_send')
    .columns(['account_id', 'phone', 'created_at', 'id'])
    .execute()
  await db.schema.createIndex('sms_send_operation').on('sms_send').column('operation_id').execute()
  // Receipts of some vendors name nothing but the vendor's own id.
  await db.schema
    .createIndex('sms_send_gateway')
    .on('sms_send')
    .columns(['gateway_id', 'gateway'])
    .where(sql.ref('gateway_id'), 'is not', null)
    .execute()

  await db.schema
    .createTable('sms_number_count')
    .addColumn('phone', 'text', (c) => c.notNull())
    .addColumn('period', 'text', (c) => c.notNull())
    .addColumn('count', 'integer', (c) => c.notNull())
    .addColumn('ends_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('sms_number_count_key', ['phone', 'period'])
    .execute()
  await db.schema.createIndex('sms_number_count_end').on('sms_number_count').column('ends_at').execute()
}
