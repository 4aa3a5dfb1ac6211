// The people's visits of each link in one number, so that a million links are sorted by them as quickly as by age.
import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'

export const migration: Migration = async (tx) => {
  const db = tx.kysely

  // A row for each link that somebody visited. Not a column of `link`: those rows are wide and watched, these change all the time.
  await db.schema
    .createTable('link_total')
    .addColumn('link_id', 'bigint', (c) => c.primaryKey())
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('clicks', 'bigint', (c) => c.notNull())
    .execute()
  await sql`INSERT INTO link_total (link_id, account_id, clicks)
    SELECT l.id, l.account_id, SUM(c.clicks) FROM link_click c JOIN link l ON l.id = c.link_id
    WHERE c.kind = 'person' GROUP BY l.id, l.account_id`.execute(db)
  await db.schema
    .createIndex('link_total_order')
    .on('link_total')
    .columns(['account_id', 'clicks', 'link_id'])
    .execute()
}
