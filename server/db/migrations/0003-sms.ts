// SMS: templates, signatures, send records, and the counters behind the limits per phone number.
import type { Migration } from './migration.ts'

export const sms: Migration = {
  name: '0003-sms',
  async run(tx, { identity }) {
    await tx.run(`CREATE TABLE sms_template (
      id ${identity},
      account_id bigint REFERENCES account (id),
      code text NOT NULL,
      name text NOT NULL,
      content text NOT NULL,
      variables text NOT NULL,
      status text NOT NULL,
      reason text NOT NULL DEFAULT '',
      gateway_codes text NOT NULL DEFAULT '{}',
      revision integer NOT NULL DEFAULT 1,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      CONSTRAINT sms_template_status CHECK (status IN ('审核中', '审核通过', '审核不通过'))
    )`)
    // A code is unique among the templates of an account, and among those shared by the operator.
    await tx.run(`CREATE UNIQUE INDEX sms_template_own ON sms_template (account_id, code)
      WHERE account_id IS NOT NULL`)
    await tx.run(`CREATE UNIQUE INDEX sms_template_shared ON sms_template (code) WHERE account_id IS NULL`)

    await tx.run(`CREATE TABLE sms_signature (
      id ${identity},
      account_id bigint NOT NULL UNIQUE,
      sign_name text NOT NULL,
      status text NOT NULL,
      reason text NOT NULL DEFAULT '',
      at bigint NOT NULL,
      CONSTRAINT sms_signature_status CHECK (status IN ('审核中', '审核通过', '审核不通过'))
    )`)

    // The biz_id is computed from `id`, so the primary key finds it. No foreign keys: they would cost a lock for each send.
    await tx.run(`CREATE TABLE sms_send (
      id ${identity},
      account_id bigint NOT NULL,
      operation_id bigint NOT NULL,
      phone text NOT NULL,
      template_code text NOT NULL,
      template_params text NOT NULL,
      sign_name text NOT NULL,
      parts integer NOT NULL,
      gateway text NOT NULL,
      gateway_id text,
      state text NOT NULL,
      success integer NOT NULL DEFAULT 0,
      charged integer NOT NULL DEFAULT 1,
      problem text NOT NULL DEFAULT '',
      problem_code text NOT NULL DEFAULT '',
      created_at bigint NOT NULL,
      receipt_at bigint,
      CONSTRAINT sms_send_state
        CHECK (state IN ('sending', 'accepted', 'delivered', 'undelivered', 'refused', 'unknown'))
    )`)
    await tx.run('CREATE INDEX sms_send_time ON sms_send (account_id, created_at, id)')
    await tx.run('CREATE INDEX sms_send_phone ON sms_send (account_id, phone, created_at, id)')
    await tx.run('CREATE INDEX sms_send_operation ON sms_send (operation_id)')
    // Receipts of some providers contain only the provider's id.
    await tx.run(`CREATE INDEX sms_send_gateway ON sms_send (gateway_id, gateway)
      WHERE gateway_id IS NOT NULL`)

    await tx.run(`CREATE TABLE sms_number_count (
      phone text NOT NULL,
      period text NOT NULL,
      count integer NOT NULL,
      ends_at bigint NOT NULL,
      PRIMARY KEY (phone, period)
    )`)
    await tx.run('CREATE INDEX sms_number_count_end ON sms_number_count (ends_at)')
  },
}
