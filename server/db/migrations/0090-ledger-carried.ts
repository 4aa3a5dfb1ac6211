// Where the roll-up of old ledger entries stands, chain by chain.
import type { Migration } from '../migrate.ts'

export const migration: Migration = async (tx) => {
  // `operation_id` stands for all the operations that were rolled up; entries before `next_id` need no second look.
  await tx.kysely.schema
    .createTable('ledger_carried')
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('api_type', 'text', (c) => c.notNull())
    .addColumn('operation_id', 'bigint', (c) => c.notNull())
    .addColumn('next_id', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('ledger_carried_key', ['account_id', 'api_type'])
    .execute()
}
