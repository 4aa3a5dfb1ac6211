// Tokens that open the operator's JSON API to programs, and the changes made with them.
import type { Migration } from './migration.ts'

export const operatorTokens: Migration = {
  name: '0020-operator-tokens',
  async run(tx, { identity }) {
    await tx.run(`CREATE TABLE operator_token (
      id ${identity},
      account_id bigint NOT NULL,
      name text NOT NULL,
      token_hash text NOT NULL UNIQUE,
      hint text NOT NULL,
      scopes text NOT NULL,
      created_at bigint NOT NULL,
      used_at bigint
    )`)
    // The changes made by tokens with an Idempotency-Key; each row is written in the transaction of its change.
    await tx.run(`CREATE TABLE operator_call (
      id ${identity},
      token_id bigint NOT NULL,
      idempotency_key text NOT NULL,
      fingerprint text NOT NULL,
      request_id text NOT NULL,
      response text,
      created_at bigint NOT NULL,
      UNIQUE (token_id, idempotency_key)
    )`)
    await tx.run('CREATE INDEX operator_call_age ON operator_call (created_at)')
  },
}
