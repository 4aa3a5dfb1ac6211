// What keeps tables small: an index to find expired keys, the daily budget of the request log, totals of clicks, ids of click batches.
import type { Migration } from './migration.ts'

export const boundedGrowth: Migration = {
  name: '0008-bounded-growth',
  async run(tx) {
    // Without it, finding expired keys reads the whole table.
    await tx.run(`CREATE INDEX operation_keyed ON operation (created_at) WHERE idempotency_key IS NOT NULL`)

    await tx.run(`CREATE TABLE request_log_day (
      account_id bigint NOT NULL,
      day text NOT NULL,
      bytes bigint NOT NULL,
      skipped bigint NOT NULL,
      PRIMARY KEY (account_id, day)
    )`)

    // A process of the previous version does not add to these two columns.
    await tx.run('ALTER TABLE link_total ADD COLUMN bots bigint NOT NULL DEFAULT 0')
    await tx.run('ALTER TABLE link_total ADD COLUMN previews bigint NOT NULL DEFAULT 0')
    const sumOf = (kind: string) => `SUM(CASE WHEN c.kind = '${kind}' THEN c.clicks ELSE 0 END)`
    await tx.run(`INSERT INTO link_total (link_id, account_id, clicks, bots, previews)
      SELECT c.link_id, COALESCE(MAX(l.account_id), 0), ${sumOf('person')}, ${sumOf('bot')}, ${sumOf('preview')}
      FROM link_click c LEFT JOIN link l ON l.id = c.link_id WHERE true GROUP BY c.link_id
      ON CONFLICT (link_id) DO UPDATE SET bots = excluded.bots, previews = excluded.previews`)

    await tx.run('CREATE TABLE link_click_batch (id text PRIMARY KEY, at bigint NOT NULL)')
    await tx.run('CREATE INDEX link_click_batch_at ON link_click_batch (at)')
  },
}
