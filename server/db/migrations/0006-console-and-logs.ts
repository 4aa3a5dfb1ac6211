// Console sessions, the audit log, and the request log with its daily counts.
import type { Migration } from './migration.ts'

export const consoleAndLogs: Migration = {
  name: '0006-console-and-logs',
  async run(tx, { identity }) {
    await tx.run(`CREATE TABLE console_session (
      id ${identity},
      token_hash text NOT NULL UNIQUE,
      account_id bigint NOT NULL REFERENCES account (id),
      address text NOT NULL,
      agent text NOT NULL,
      created_at bigint NOT NULL,
      seen_at bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX console_session_account ON console_session (account_id)')

    await tx.run(`CREATE TABLE audit (
      id ${identity},
      at bigint NOT NULL,
      actor text NOT NULL,
      action text NOT NULL,
      target text NOT NULL,
      note text NOT NULL,
      details text NOT NULL
    )`)

    await tx.run(`CREATE TABLE request_log (
      id ${identity},
      account_id bigint NOT NULL,
      request_id text NOT NULL,
      at bigint NOT NULL,
      endpoint text NOT NULL,
      action text,
      method text NOT NULL,
      status integer NOT NULL,
      code integer NOT NULL,
      ok integer NOT NULL,
      message text,
      duration_us bigint NOT NULL,
      gateway text,
      charged bigint NOT NULL,
      given_back bigint NOT NULL,
      replayed integer NOT NULL,
      idempotent integer NOT NULL,
      address text NOT NULL,
      parameters text NOT NULL,
      answer text,
      steps text NOT NULL
    )`)
    await tx.run('CREATE INDEX request_log_account ON request_log (account_id, id)')
    await tx.run('CREATE INDEX request_log_failed ON request_log (account_id, id) WHERE ok = 0')
    await tx.run('CREATE INDEX request_log_request ON request_log (request_id)')
    await tx.run('CREATE INDEX request_log_at ON request_log (at)')

    await tx.run(`CREATE TABLE request_term (
      account_id bigint NOT NULL,
      term text NOT NULL,
      request_id text NOT NULL,
      at bigint NOT NULL,
      PRIMARY KEY (account_id, term, request_id)
    )`)
    await tx.run('CREATE INDEX request_term_at ON request_term (at)')

    await tx.run(`CREATE TABLE call_day (
      account_id bigint NOT NULL,
      day text NOT NULL,
      endpoint text NOT NULL,
      code integer NOT NULL,
      calls bigint NOT NULL,
      succeeded bigint NOT NULL,
      paid bigint NOT NULL,
      credits bigint NOT NULL,
      PRIMARY KEY (account_id, day, endpoint, code)
    )`)
  },
}
