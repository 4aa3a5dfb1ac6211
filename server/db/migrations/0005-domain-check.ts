// Domain checks: watched domains, the history of their verdicts, and checks that were started from the console.
import type { Migration } from './migration.ts'

export const domainCheck: Migration = {
  name: '0005-domain-check',
  async run(tx, { identity }) {
    await tx.run(`CREATE TABLE domain_watch (
      id ${identity},
      account_id bigint NOT NULL,
      address text NOT NULL,
      url text NOT NULL,
      host text NOT NULL,
      pause_reason text,
      stopped integer NOT NULL DEFAULT 0,
      every_minutes integer,
      verdict text,
      verdict_since bigint,
      last_result text,
      checked_at bigint,
      due_at bigint NOT NULL,
      created_at bigint NOT NULL,
      CONSTRAINT domain_watch_address UNIQUE (account_id, url)
    )`)
    await tx.run('CREATE INDEX domain_watch_due ON domain_watch (due_at)')

    await tx.run(`CREATE TABLE domain_verdict (
      id ${identity},
      watch_id bigint NOT NULL,
      verdict text NOT NULL,
      at bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX domain_verdict_watch ON domain_verdict (watch_id, id)')

    await tx.run(`CREATE TABLE domain_run (
      id ${identity},
      account_id bigint NOT NULL,
      operation_id bigint NOT NULL,
      idempotency_key text,
      fingerprint text NOT NULL,
      at bigint NOT NULL,
      total integer NOT NULL,
      done integer NOT NULL,
      finished integer NOT NULL DEFAULT 0,
      items text NOT NULL,
      results text NOT NULL,
      counts text NOT NULL
    )`)
    await tx.run('CREATE INDEX domain_run_list ON domain_run (account_id, id)')
    await tx.run('CREATE INDEX domain_run_age ON domain_run (at)')
    await tx.run(`CREATE UNIQUE INDEX domain_run_idempotency ON domain_run (account_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL`)
  },
}
