// Where a call came from, contacts and notes of accounts for operators, and the daily health of the service.
import type { Migration } from './migration.ts'

export const callSources: Migration = {
  name: '0016-call-sources',
  async run(tx, { identity }) {
    // Calls of earlier versions count as calls with a key.
    await tx.run(`ALTER TABLE request_log ADD COLUMN source text NOT NULL DEFAULT 'api'`)
    await tx.run('ALTER TABLE call_day ADD COLUMN console_calls bigint NOT NULL DEFAULT 0')
    await tx.run('ALTER TABLE call_day ADD COLUMN console_paid bigint NOT NULL DEFAULT 0')

    await tx.run(`CREATE TABLE account_contact (
      account_id bigint PRIMARY KEY,
      company text NOT NULL,
      name text NOT NULL,
      phone text NOT NULL,
      mail text NOT NULL,
      updated_at bigint NOT NULL
    )`)
    await tx.run(`CREATE TABLE account_note (
      id ${identity},
      account_id bigint NOT NULL,
      at bigint NOT NULL,
      author text NOT NULL,
      note text NOT NULL
    )`)
    await tx.run('CREATE INDEX account_note_list ON account_note (account_id, id)')

    await tx.run(`CREATE TABLE health_day (
      day text NOT NULL,
      part text NOT NULL,
      samples bigint NOT NULL,
      failed bigint NOT NULL,
      last_minute bigint NOT NULL,
      PRIMARY KEY (day, part)
    )`)
  },
}
