// Watched domains and the history of their verdicts.
import type { Migration } from '../migrate.ts'

export const migration: Migration = async (tx, column) => {
  const db = tx.kysely

  // account_id 0 is the operator: its own link domains, watched free of charge.
  await db.schema
    .createTable('domain_watch')
    .addColumn('id', ...column.identity)
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('host', 'text', (c) => c.notNull())
    .addColumn('paused', 'text')
    .addColumn('verdict', 'text')
    .addColumn('verdict_since', 'bigint')
    .addColumn('last_result', 'text')
    .addColumn('checked_at', 'bigint')
    .addColumn('due_at', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('domain_watch_address', ['account_id', 'url'])
    .execute()
  await db.schema.createIndex('domain_watch_due').on('domain_watch').column('due_at').execute()

  await db.schema
    .createTable('domain_verdict')
    .addColumn('id', ...column.identity)
    .addColumn('watch_id', 'bigint', (c) => c.notNull())
    .addColumn('verdict', 'text', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('domain_verdict_watch')
    .on('domain_verdict')
    .columns(['watch_id', 'id'])
    .execute()
}
