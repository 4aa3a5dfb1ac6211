// Short links: the links, every code ever given out, the domain pools, and the clicks.
import { sql } from 'kysely'
import type { Tx } from '../database.ts'
import type { Migration } from '../migrate.ts'

export const migration: Migration = async (tx, column) => {
  const db = tx.kysely

  await db.schema
    .createTable('link')
    .addColumn('id', ...column.identity)
    .addColumn('account_id', 'bigint', (c) => c.notNull())
    .addColumn('code', 'text', (c) => c.notNull())
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('target_url', 'text', (c) => c.notNull())
    .addColumn('redirect_url_a', 'text', (c) => c.notNull())
    .addColumn('redirect_type', 'text', (c) => c.notNull())
    // The ASCII forms that go into `Location`.
    .addColumn('location_a', 'text', (c) => c.notNull())
    .addColumn('location_b', 'text', (c) => c.notNull())
    // Empty: no domain of a pool, the addresses stand on PUBLIC_URL.
    .addColumn('host_a', 'text', (c) => c.notNull())
    .addColumn('host_b', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('link_account').on('link').columns(['account_id', 'id']).execute()

  // Rows are never deleted: the primary key is what keeps a code from being given out twice.
  const codes = db.schema
    .createTable('link_code')
    .addColumn('code', 'text', (c) => c.primaryKey())
    .addColumn('link_id', 'bigint', (c) => c.notNull())
    .addColumn('retired_at', 'bigint')
    .addColumn('live_until', 'bigint')
  await (tx.engine === 'sqlite' ? codes.modifyEnd(sql`WITHOUT ROWID`) : codes).execute()
  await db.schema
    .createIndex('link_code_retired')
    .on('link_code')
    .column('link_id')
    .where(sql.ref('retired_at'), 'is not', null)
    .execute()

  await db.schema
    .createTable('link_domain')
    .addColumn('host', 'text', (c) => c.primaryKey())
    .addColumn('pool', 'text', (c) => c.notNull())
    .addColumn('removed', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('blocked', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('blocked_at', 'bigint')
    .addColumn('added_at', 'bigint', (c) => c.notNull())
    .addCheckConstraint('link_domain_pool', sql`pool IN ('a', 'b')`)
    .execute()

  // `hour` counts hours since 1970; a day that was rolled up stands in its first hour in Shanghai.
  const clicks = db.schema
    .createTable('link_click')
    .addColumn('link_id', 'bigint', (c) => c.notNull())
    .addColumn('hour', 'integer', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('device', 'text', (c) => c.notNull())
    .addColumn('browser', 'text', (c) => c.notNull())
    .addColumn('referrer', 'text', (c) => c.notNull())
    .addColumn('clicks', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('link_click_key', ['link_id', 'hour', 'kind', 'device', 'browser', 'referrer'])
  await (tx.engine === 'sqlite' ? clicks.modifyEnd(sql`WITHOUT ROWID`) : clicks).execute()

  // Who came on a day, as a salted hash: thrown away with the salt soon after the day, when only the number is kept.
  const visitors = db.schema
    .createTable('link_visitor')
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('link_id', 'bigint', (c) => c.notNull())
    .addColumn('visitor', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('link_visitor_key', ['day', 'link_id', 'visitor'])
  await (tx.engine === 'sqlite' ? visitors.modifyEnd(sql`WITHOUT ROWID`) : visitors).execute()
  await db.schema
    .createTable('link_visitor_day')
    .addColumn('link_id', 'bigint', (c) => c.notNull())
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('visitors', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('link_visitor_day_key', ['link_id', 'day'])
    .execute()
  await db.schema
    .createTable('link_salt')
    .addColumn('day', 'integer', (c) => c.primaryKey())
    .addColumn('salt', 'text', (c) => c.notNull())
    .execute()

  await db.schema
    .createTable('link_change')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .execute()
  await sql`INSERT INTO link_change (id, version) VALUES (1, 1)`.execute(db)
  if (tx.engine === 'sqlite') await watchChanges(tx)
}

/**
 * SQLite processes keep a few links in memory between requests. Whatever would make one of them wrong, whoever does it,
 * puts a new number into `link_change`, and a process that sees another number forgets them all. New links need not:
 * nobody remembers what does not exist. On PostgreSQL nothing is kept, and the table only stands there for backups that
 * travel between the engines.
 */
async function watchChanges(tx: Tx): Promise<void> {
  const events = {
    link: ['UPDATE', 'DELETE'],
    link_code: ['UPDATE', 'DELETE'],
    link_domain: ['INSERT', 'UPDATE', 'DELETE'],
    account: ['UPDATE OF suspended', 'DELETE'],
    // A restored backup brings the number of its time, which must not look like the number of today.
    link_change: ['INSERT'],
  }
  for (const [table, list] of Object.entries(events)) {
    for (const [index, event] of list.entries()) {
      await sql
        .raw(
          `CREATE TRIGGER link_change_on_${table}_${index} AFTER ${event} ON ${table}
           BEGIN UPDATE link_change SET version = abs(random() % 9007199254740991); END`,
        )
        .execute(tx.kysely)
    }
  }
}
