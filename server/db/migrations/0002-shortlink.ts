// Short links: the links, every code ever assigned, the domain pools, and the clicks.
import { randomBytes } from 'node:crypto'
import type { Tx } from '../database.ts'
import { insertSetting } from '../setting-store.ts'
import type { Migration } from './migration.ts'

export const shortlink: Migration = {
  name: '0002-shortlink',
  async run(tx, { identity, integerKey }) {
    await tx.run(`CREATE TABLE link (
      id ${identity},
      account_id bigint NOT NULL,
      code text NOT NULL,
      title text NOT NULL,
      target_url text NOT NULL,
      redirect_url_a text NOT NULL,
      redirect_type text NOT NULL,
      location_a text NOT NULL,
      location_b text NOT NULL,
      host_a text NOT NULL,
      host_b text NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX link_account ON link (account_id, id)')

    // The key of the permutation between positions and codes: new codes are neighbours in the index, and look random.
    await insertSetting(tx, 'link_code_key', randomBytes(16).toString('hex'))
    await tx.run(`CREATE TABLE link_code (
      position ${integerKey},
      link_id bigint NOT NULL,
      retired_at bigint,
      live_until bigint
    )`)
    await tx.run('CREATE INDEX link_code_retired ON link_code (link_id) WHERE retired_at IS NOT NULL')

    await tx.run(`CREATE TABLE link_domain (
      id ${identity},
      host text NOT NULL UNIQUE,
      pool text NOT NULL,
      removed integer NOT NULL DEFAULT 0,
      blocked integer NOT NULL DEFAULT 0,
      blocked_at bigint,
      probed_at bigint,
      probe_failed integer NOT NULL DEFAULT 0,
      added_at bigint NOT NULL,
      CONSTRAINT link_domain_pool CHECK (pool IN ('a', 'b'))
    )`)

    await createClickTables(tx, identity)

    // PostgreSQL does not use it; the table exists so that a backup of one engine can be restored on the other.
    await tx.run('CREATE TABLE link_change (id integer PRIMARY KEY, version bigint NOT NULL)')
    await tx.run('INSERT INTO link_change (id, version) VALUES (1, 1)')
    await (tx.engine === 'sqlite' ? createChangeTriggers(tx) : createNotifications(tx))
  },
}

async function createClickTables(tx: Tx, identity: string): Promise<void> {
  // SQLite stores such a table in its primary key, without a second copy of the key.
  const inPrimaryKey = tx.engine === 'sqlite' ? 'WITHOUT ROWID' : ''
  await tx.run(`CREATE TABLE link_click (
    link_id bigint NOT NULL,
    hour integer NOT NULL,
    kind text NOT NULL,
    device text NOT NULL,
    browser text NOT NULL,
    referrer text NOT NULL,
    clicks bigint NOT NULL,
    PRIMARY KEY (link_id, hour, kind, device, browser, referrer)
  ) ${inPrimaryKey}`)

  await tx.run(`CREATE TABLE link_visitor (
    day integer NOT NULL,
    link_id bigint NOT NULL,
    visitor bigint NOT NULL,
    PRIMARY KEY (day, link_id, visitor)
  ) ${inPrimaryKey}`)
  await tx.run(`CREATE TABLE link_visitor_day (
    link_id bigint NOT NULL,
    day integer NOT NULL,
    visitors bigint NOT NULL,
    PRIMARY KEY (link_id, day)
  )`)
  await tx.run('CREATE TABLE link_salt (day integer PRIMARY KEY, salt text NOT NULL)')

  // Not a column of `link`: those rows are wide and watched by triggers, these change with every click.
  await tx.run(`CREATE TABLE link_total (
    link_id bigint PRIMARY KEY,
    account_id bigint NOT NULL,
    clicks bigint NOT NULL
  )`)
  await tx.run('CREATE INDEX link_total_order ON link_total (account_id, clicks, link_id)')

  await tx.run(`CREATE TABLE link_click_journal (
    id ${identity},
    is_aggregated integer NOT NULL,
    clicks text NOT NULL
  )`)
}

/**
 * SQLite processes cache links. Every statement that could make a cached link stale changes `link_change.version`, and a
 * process that reads another version drops its cache. New links need not: nothing caches what does not exist.
 */
async function createChangeTriggers(tx: Tx): Promise<void> {
  const events = {
    link: ['UPDATE', 'DELETE'],
    link_code: ['UPDATE', 'DELETE'],
    link_domain: ['INSERT', 'UPDATE', 'DELETE'],
    account: ['UPDATE OF suspended', 'DELETE'],
    // A restored backup contains an old version, which must not equal the present one.
    link_change: ['INSERT'],
  }
  for (const [table, list] of Object.entries(events)) {
    for (const [index, event] of list.entries()) {
      await tx.run(`CREATE TRIGGER link_change_on_${table}_${index} AFTER ${event} ON ${table}
        BEGIN UPDATE link_change SET version = abs(random() % 9007199254740991); END`)
    }
  }
}

/** A statement that changes more links than this is notified as "all links". */
const maxNotifiedLinks = 200

/**
 * On PostgreSQL the same statements notify the channel `tollgate_links` when they are committed: with ids of links,
 * `pools`, or `*` for everything.
 */
async function createNotifications(tx: Tx): Promise<void> {
  await tx.run(`CREATE FUNCTION tollgate_notify_links() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      ids text;
      total bigint;
    BEGIN
      IF TG_TABLE_NAME = 'link' THEN
        SELECT string_agg(DISTINCT id::text, ' '), count(*) INTO ids, total FROM changed;
      ELSE
        SELECT string_agg(DISTINCT link_id::text, ' '), count(*) INTO ids, total FROM changed;
      END IF;
      IF total > 0 THEN
        PERFORM pg_notify('tollgate_links', CASE WHEN total > ${maxNotifiedLinks} THEN '*' ELSE ids END);
      END IF;
      RETURN NULL;
    END $$`)
  await tx.run(`CREATE FUNCTION tollgate_notify() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('tollgate_links', TG_ARGV[0]);
      RETURN NULL;
    END $$`)
  for (const table of ['link', 'link_code']) {
    await tx.run(`CREATE TRIGGER notify_update AFTER UPDATE ON ${table} REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION tollgate_notify_links()`)
    await tx.run(`CREATE TRIGGER notify_delete AFTER DELETE ON ${table} REFERENCING OLD TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION tollgate_notify_links()`)
    await tx.run(`CREATE TRIGGER notify_truncate AFTER TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION tollgate_notify('*')`)
  }
  await tx.run(`CREATE TRIGGER notify_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON link_domain
    FOR EACH STATEMENT EXECUTE FUNCTION tollgate_notify('pools')`)
  await tx.run(`CREATE TRIGGER notify_suspension AFTER UPDATE OF suspended ON account
    FOR EACH ROW WHEN (OLD.suspended IS DISTINCT FROM NEW.suspended) EXECUTE FUNCTION tollgate_notify('*')`)
  await tx.run(`CREATE TRIGGER notify_delete AFTER DELETE OR TRUNCATE ON account
    FOR EACH STATEMENT EXECUTE FUNCTION tollgate_notify('*')`)
}
