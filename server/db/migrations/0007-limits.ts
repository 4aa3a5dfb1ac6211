// Rate limits and attempt counters that several processes share on PostgreSQL. SQLite has none: its first process counts.
import type { Migration } from './migration.ts'

export const limits: Migration = {
  name: '0007-limits',
  async run(tx) {
    if (tx.engine === 'sqlite') return
    // Unlogged: a write waits for no disk and is in no backup, and after a crash every bucket is full.
    await tx.run(`CREATE UNLOGGED TABLE limit_bucket (
      account_id bigint PRIMARY KEY,
      milli_tokens bigint NOT NULL,
      updated_at bigint NOT NULL,
      per_second bigint NOT NULL,
      burst bigint NOT NULL,
      requested bigint NOT NULL,
      granted bigint NOT NULL
    )`)
    await tx.run(`CREATE UNLOGGED TABLE limit_window (
      key text PRIMARY KEY,
      attempts bigint NOT NULL,
      started_at bigint NOT NULL,
      ends_at bigint NOT NULL
    )`)
  },
}
