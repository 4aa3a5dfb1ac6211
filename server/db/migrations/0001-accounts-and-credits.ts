// Settings of the installation, accounts with their API key, the credit ledger and redeem codes.
import type { Migration } from './migration.ts'

export const accountsAndCredits: Migration = {
  name: '0001-accounts-and-credits',
  async run(tx, { identity }) {
    await tx.run(`CREATE TABLE setting (
      name text PRIMARY KEY,
      value text NOT NULL
    )`)

    await tx.run(`CREATE TABLE account (
      id ${identity},
      username text NOT NULL UNIQUE,
      role text NOT NULL,
      password_hash text NOT NULL,
      key_hash text UNIQUE,
      key_hint text,
      key_created_at bigint,
      expires_on text,
      suspended integer NOT NULL DEFAULT 0,
      sms_enabled integer NOT NULL DEFAULT 1,
      sign_name text,
      rate_limit text,
      created_at bigint NOT NULL
    )`)

    // The check is the last line of defence: even a wrong statement cannot make a balance negative.
    await tx.run(`CREATE TABLE credit (
      account_id bigint NOT NULL REFERENCES account (id),
      api_type text NOT NULL,
      total bigint NOT NULL DEFAULT 0,
      used bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (account_id, api_type),
      CONSTRAINT credit_not_negative CHECK (used >= 0 AND used <= total)
    )`)

    // No foreign keys here: they would lock a row of account for each charge. `ledger check` finds rows without an account.
    await tx.run(`CREATE TABLE operation (
      id ${identity},
      account_id bigint NOT NULL,
      api_type text NOT NULL,
      action text NOT NULL,
      cost bigint NOT NULL,
      given_back bigint NOT NULL DEFAULT 0,
      state text NOT NULL,
      idempotency_key text,
      fingerprint text,
      response text,
      lease_until bigint,
      sends integer NOT NULL DEFAULT 0,
      request_id text NOT NULL,
      created_at bigint NOT NULL,
      ended_at bigint,
      CONSTRAINT operation_state CHECK (state IN ('held', 'settled', 'refunded')),
      CONSTRAINT operation_amounts CHECK (cost >= 0 AND given_back >= 0 AND given_back <= cost)
    )`)
    await tx.run(`CREATE UNIQUE INDEX operation_idempotency ON operation (account_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL`)
    await tx.run(`CREATE INDEX operation_open ON operation (lease_until) WHERE state = 'held'`)

    await tx.run(`CREATE TABLE ledger (
      id ${identity},
      account_id bigint NOT NULL,
      api_type text NOT NULL,
      kind text NOT NULL,
      amount bigint NOT NULL,
      balance_after bigint NOT NULL,
      operation_id bigint,
      note text,
      at bigint NOT NULL,
      CONSTRAINT ledger_kind CHECK (kind IN ('grant', 'adjust', 'charge', 'refund')),
      CONSTRAINT ledger_balance CHECK (balance_after >= 0)
    )`)
    await tx.run('CREATE INDEX ledger_chain ON ledger (account_id, api_type, id)')
    await tx.run('CREATE INDEX ledger_operation ON ledger (operation_id) WHERE operation_id IS NOT NULL')
    // Finds the few grants and refunds among many charges, and adds no cost to a charge.
    await tx.run(`CREATE INDEX ledger_not_charges ON ledger (account_id, kind, id) WHERE kind <> 'charge'`)

    // How far the ledger of an account and type is compacted: `operation_id` replaces all compacted operations, entries
    // before `next_id` are done.
    await tx.run(`CREATE TABLE ledger_compaction (
      account_id bigint NOT NULL,
      api_type text NOT NULL,
      operation_id bigint NOT NULL,
      next_id bigint NOT NULL,
      PRIMARY KEY (account_id, api_type)
    )`)

    await tx.run(`CREATE TABLE redeem_batch (
      id ${identity},
      api_type text NOT NULL,
      amount bigint NOT NULL,
      count integer NOT NULL,
      expires_on text,
      note text NOT NULL,
      created_by text NOT NULL,
      created_at bigint NOT NULL,
      CONSTRAINT redeem_batch_amount CHECK (amount > 0)
    )`)
    await tx.run(`CREATE TABLE redeem_code (
      id ${identity},
      batch_id bigint NOT NULL REFERENCES redeem_batch (id),
      code_hash text NOT NULL UNIQUE,
      hint text NOT NULL,
      state text NOT NULL,
      account_id bigint,
      redeemed_at bigint,
      revoked_at bigint,
      CONSTRAINT redeem_code_state CHECK (state IN ('unused', 'redeemed', 'revoked'))
    )`)
    await tx.run('CREATE INDEX redeem_code_batch ON redeem_code (batch_id, state, id)')
  },
}
