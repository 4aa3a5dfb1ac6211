// Several processes on one PostgreSQL: who changes a link says so to all of them, and limits are counted in common.
import { sql } from 'kysely'
import type { Tx } from '../database.ts'
import type { Migration } from '../migrate.ts'

export const migration: Migration = async (tx) => {
  // SQLite's processes stand on one machine: they watch the file (`link_change`), and the first of them counts for all.
  if (tx.engine === 'sqlite') return
  await tellOfLinks(tx)
  await makeCounters(tx)
}

/** More changed links than this in one statement are told as "all of them". */
const mostTold = 200

/**
 * Whatever would make a remembered link wrong, whoever does it, is told on the channel `tollgate_links` when it is
 * committed: ids of links, `pools`, or `*` for everything. New links need not be told: nobody remembers what does not
 * exist.
 */
async function tellOfLinks(tx: Tx): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(tx.kysely)
  await run(`CREATE FUNCTION tollgate_tell_links() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      ids text;
      many bigint;
    BEGIN
      IF TG_TABLE_NAME = 'link' THEN
        SELECT string_agg(DISTINCT id::text, ' '), count(*) INTO ids, many FROM changed;
      ELSE
        SELECT string_agg(DISTINCT link_id::text, ' '), count(*) INTO ids, many FROM changed;
      END IF;
      IF many > 0 THEN
        PERFORM pg_notify('tollgate_links', CASE WHEN many > ${mostTold} THEN '*' ELSE ids END);
      END IF;
      RETURN NULL;
    END $$`)
  await run(`CREATE FUNCTION tollgate_tell() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('tollgate_links', TG_ARGV[0]);
      RETURN NULL;
    END $$`)
  for (const table of ['link', 'link_code']) {
    await run(`CREATE TRIGGER tell_of_update AFTER UPDATE ON ${table} REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell_links()`)
    await run(`CREATE TRIGGER tell_of_delete AFTER DELETE ON ${table} REFERENCING OLD TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell_links()`)
    await run(`CREATE TRIGGER tell_of_truncate AFTER TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell('*')`)
  }
  await run(`CREATE TRIGGER tell_of_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON link_domain
    FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell('pools')`)
  await run(`CREATE TRIGGER tell_of_suspension AFTER UPDATE OF suspended ON account
    FOR EACH ROW WHEN (OLD.suspended IS DISTINCT FROM NEW.suspended) EXECUTE FUNCTION tollgate_tell('*')`)
  await run(`CREATE TRIGGER tell_of_delete AFTER DELETE OR TRUNCATE ON account
    FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell('*')`)
}

/** Unlogged: no disk is waited for, nothing goes into a backup, and after a crash everybody's bucket is full. */
async function makeCounters(tx: Tx): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(tx.kysely)
  // Thousandths of tokens, so that a millisecond's inflow is a whole number.
  await run(`CREATE UNLOGGED TABLE limit_bucket (
    account_id bigint PRIMARY KEY,
    milli bigint NOT NULL,
    at bigint NOT NULL,
    per_second bigint NOT NULL,
    burst bigint NOT NULL,
    wanted bigint NOT NULL,
    granted bigint NOT NULL
  )`)
  await run(`CREATE UNLOGGED TABLE limit_window (
    key text PRIMARY KEY,
    tries bigint NOT NULL,
    started_at bigint NOT NULL,
    ends_at bigint NOT NULL
  )`)
}
