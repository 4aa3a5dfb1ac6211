// Clicks on their way into the counters, a thousand in a row.
import type { Migration } from '../migrate.ts'

export const migration: Migration = async (tx, column) => {
  await tx.kysely.schema
    .createTable('link_click_journal')
    .addColumn('id', ...column.identity)
    // 1 for a piece that was added up already and only waits for its transaction.
    .addColumn('is_piece', 'integer', (c) => c.notNull())
    .addColumn('clicks', 'text', (c) => c.notNull())
    .execute()
}
