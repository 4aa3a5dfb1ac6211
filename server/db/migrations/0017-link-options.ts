// Options of links: chosen codes, states, expiry, click limits, passwords, rules, tags, and counters of clicks by place and program.
import type { Migration } from './migration.ts'

/** The columns that decide whether a link is answered in another way than by its redirect alone. */
const hasState = 'paused = 1 OR banned <> 0 OR expires_at IS NOT NULL OR max_clicks IS NOT NULL'

export const linkOptions: Migration = {
  name: '0017-link-options',
  async run(tx) {
    for (const column of [
      'paused integer NOT NULL DEFAULT 0',
      'banned integer NOT NULL DEFAULT 0',
      'deleted_at bigint',
      'expires_at bigint',
      `expired_url text NOT NULL DEFAULT ''`,
      `expired_location text NOT NULL DEFAULT ''`,
      'max_clicks bigint',
      'password_hash text',
      `rules text NOT NULL DEFAULT ''`,
      `tags text NOT NULL DEFAULT ''`,
      'external_id text',
      `own_domain text NOT NULL DEFAULT ''`,
    ]) {
      await tx.run(`ALTER TABLE link ADD COLUMN ${column}`)
    }
    await tx.run(
      'CREATE UNIQUE INDEX link_external ON link (account_id, external_id) WHERE external_id IS NOT NULL',
    )
    await tx.run(`CREATE INDEX link_with_state ON link (account_id, id) WHERE ${hasState}`)

    // The text of a chosen code that no position of the permutation has.
    await tx.run('ALTER TABLE link_code ADD COLUMN code text')

    // Not columns of `link`: those rows are watched by triggers, these change with visits.
    await tx.run('CREATE TABLE link_usage (link_id bigint PRIMARY KEY, used bigint NOT NULL)')
    await tx.run(`CREATE TABLE link_expiry (
      link_id bigint PRIMARY KEY,
      account_id bigint NOT NULL,
      expires_at bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX link_expiry_due ON link_expiry (expires_at)')

    const inPrimaryKey = tx.engine === 'sqlite' ? 'WITHOUT ROWID' : ''
    await tx.run(`CREATE TABLE link_tag (
      account_id bigint NOT NULL,
      tag text NOT NULL,
      link_id bigint NOT NULL,
      PRIMARY KEY (account_id, tag, link_id)
    ) ${inPrimaryKey}`)
    await tx.run(`CREATE TABLE link_click_part (
      link_id bigint NOT NULL,
      part text NOT NULL,
      day integer NOT NULL,
      value text NOT NULL,
      clicks bigint NOT NULL,
      PRIMARY KEY (link_id, part, day, value)
    ) ${inPrimaryKey}`)
  },
}
