// Own link domains of accounts, bans, reports by visitors, imports, and shared statistics.
import type { Tx } from '../database.ts'
import type { Migration } from './migration.ts'

export const linkDomainsAndBans: Migration = {
  name: '0019-link-domains-and-bans',
  async run(tx, { identity }) {
    await tx.run(`CREATE TABLE link_own_domain (
      id ${identity},
      account_id bigint NOT NULL,
      host text NOT NULL,
      token text NOT NULL,
      verified_at bigint,
      checked_at bigint,
      missing_since bigint,
      blocked integer NOT NULL DEFAULT 0,
      blocked_at bigint,
      added_at bigint NOT NULL,
      UNIQUE (account_id, host)
    )`)
    // Any account may claim a host, one account can have proved that it is its own.
    await tx.run(
      'CREATE UNIQUE INDEX link_own_domain_verified ON link_own_domain (host) WHERE verified_at IS NOT NULL',
    )

    await tx.run(`CREATE TABLE link_ban (
      id ${identity},
      host text UNIQUE,
      link_id bigint UNIQUE,
      code text NOT NULL DEFAULT '',
      note text NOT NULL,
      created_by text NOT NULL,
      created_at bigint NOT NULL,
      marked_id bigint NOT NULL DEFAULT 0,
      marked integer NOT NULL DEFAULT 0
    )`)

    await tx.run(`CREATE TABLE link_report (
      id ${identity},
      link_id bigint,
      address text NOT NULL,
      reason text NOT NULL,
      details text NOT NULL,
      contact text NOT NULL,
      state text NOT NULL,
      decided_by text NOT NULL DEFAULT '',
      decided_at bigint,
      at bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX link_report_state ON link_report (state, id)')
    await tx.run('CREATE INDEX link_report_address ON link_report (address, id)')

    await tx.run(`CREATE TABLE link_import (
      id ${identity},
      account_id bigint NOT NULL,
      file_name text NOT NULL,
      format text NOT NULL,
      encoding text NOT NULL,
      options text NOT NULL,
      state text NOT NULL,
      total integer NOT NULL,
      invalid integer NOT NULL,
      created integer NOT NULL DEFAULT 0,
      failed integer NOT NULL DEFAULT 0,
      next_row integer NOT NULL DEFAULT 0,
      pause_reason text NOT NULL DEFAULT '',
      lease_until bigint NOT NULL DEFAULT 0,
      created_at bigint NOT NULL,
      ended_at bigint
    )`)
    await tx.run('CREATE INDEX link_import_account ON link_import (account_id, id)')
    await tx.run(`CREATE INDEX link_import_running ON link_import (id) WHERE state = 'running'`)
    await tx.run(`CREATE TABLE link_import_row (
      import_id bigint NOT NULL,
      row_index integer NOT NULL,
      line integer NOT NULL,
      input text NOT NULL,
      state text NOT NULL,
      problem text NOT NULL,
      link_id bigint,
      PRIMARY KEY (import_id, row_index)
    )`)

    await tx.run(`CREATE TABLE link_share (
      id ${identity},
      account_id bigint NOT NULL,
      link_id bigint,
      tag text,
      token_hash text NOT NULL UNIQUE,
      expires_at bigint NOT NULL,
      created_at bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX link_share_account ON link_share (account_id, id)')

    await (tx.engine === 'sqlite' ? createChangeTriggers(tx) : createNotifications(tx))
  },
}

/** Like the triggers of 0002: a ban or an own domain makes cached links stale. */
async function createChangeTriggers(tx: Tx): Promise<void> {
  const events = {
    link_own_domain: ['INSERT', 'UPDATE OF verified_at', 'DELETE'],
    link_ban: ['INSERT', 'DELETE'],
  }
  for (const [table, list] of Object.entries(events)) {
    for (const [index, event] of list.entries()) {
      await tx.run(`CREATE TRIGGER link_change_on_${table}_${index} AFTER ${event} ON ${table}
        BEGIN UPDATE link_change SET version = abs(random() % 9007199254740991); END`)
    }
  }
}

async function createNotifications(tx: Tx): Promise<void> {
  await tx.run(`CREATE TRIGGER notify_change AFTER INSERT OR UPDATE OF verified_at OR DELETE OR TRUNCATE ON link_own_domain
    FOR EACH STATEMENT EXECUTE FUNCTION tollgate_notify('pools')`)
  await tx.run(`CREATE TRIGGER notify_change AFTER INSERT OR DELETE OR TRUNCATE ON link_ban
    FOR EACH STATEMENT EXECUTE FUNCTION tollgate_notify('*')`)
}
