// SMS: several signatures per account with proofs, reviews by vendors, one-time codes, replies, the stop list, template types.
import type { Migration } from './migration.ts'

export const smsSignaturesAndReplies: Migration = {
  name: '0018-sms-signatures-and-replies',
  async run(tx, { identity }) {
    await tx.run(`CREATE TABLE sms_account_signature (
      id ${identity},
      account_id bigint NOT NULL,
      sign_name text NOT NULL,
      type text NOT NULL,
      status text NOT NULL,
      reason text NOT NULL DEFAULT '',
      note text NOT NULL DEFAULT '',
      revision integer NOT NULL DEFAULT 1,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      CONSTRAINT sms_account_signature_status CHECK (status IN ('审核中', '审核通过', '审核不通过')),
      CONSTRAINT sms_account_signature_type CHECK (type IN ('company', 'trademark', 'app', 'website'))
    )`)
    await tx.run(
      `CREATE UNIQUE INDEX sms_account_signature_name ON sms_account_signature (account_id, sign_name)`,
    )
    // The signature in use was approved by an operator; the open or refused request may be for another one.
    await tx.run(`INSERT INTO sms_account_signature (account_id, sign_name, type, status, created_at, updated_at)
      SELECT id, sign_name, 'company', '审核通过', created_at, created_at FROM account
      WHERE sign_name IS NOT NULL ORDER BY id`)
    await tx.run(`INSERT INTO sms_account_signature (account_id, sign_name, type, status, reason, created_at, updated_at)
      SELECT account_id, sign_name, 'company', status, reason, at, at FROM sms_signature
      WHERE status <> '审核通过' ORDER BY id ON CONFLICT DO NOTHING`)

    await tx.run(`CREATE TABLE sms_signature_proof (
      id ${identity},
      signature_id bigint NOT NULL,
      account_id bigint NOT NULL,
      name text NOT NULL,
      media_type text NOT NULL,
      size bigint NOT NULL,
      content text NOT NULL,
      created_at bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX sms_signature_proof_signature ON sms_signature_proof (signature_id)')
    await tx.run('CREATE INDEX sms_signature_proof_account ON sms_signature_proof (account_id)')

    await tx.run(`CREATE TABLE sms_vendor_review (
      id ${identity},
      kind text NOT NULL,
      subject_id bigint NOT NULL,
      revision integer NOT NULL,
      gateway text NOT NULL,
      vendor_id text NOT NULL DEFAULT '',
      state text NOT NULL,
      reason text NOT NULL DEFAULT '',
      attempts integer NOT NULL DEFAULT 0,
      due_at bigint,
      lease_until bigint NOT NULL DEFAULT 0,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      CONSTRAINT sms_vendor_review_kind CHECK (kind IN ('signature', 'template'))
    )`)
    await tx.run(
      'CREATE UNIQUE INDEX sms_vendor_review_subject ON sms_vendor_review (kind, subject_id, gateway)',
    )
    await tx.run('CREATE INDEX sms_vendor_review_due ON sms_vendor_review (due_at) WHERE due_at IS NOT NULL')

    await tx.run(`CREATE TABLE sms_code (
      account_id bigint NOT NULL,
      phone text NOT NULL,
      purpose text NOT NULL,
      hash text NOT NULL,
      attempts_left integer NOT NULL,
      operation_id bigint NOT NULL,
      sent_at bigint NOT NULL,
      expires_at bigint NOT NULL,
      PRIMARY KEY (account_id, phone, purpose)
    )`)
    await tx.run('CREATE INDEX sms_code_end ON sms_code (expires_at)')

    // Without an account: no message to the number was found, the reply is the operator's.
    await tx.run(`CREATE TABLE sms_reply (
      id ${identity},
      account_id bigint,
      send_id bigint,
      phone text NOT NULL,
      content text NOT NULL,
      sign_name text NOT NULL,
      gateway text NOT NULL,
      sequence text NOT NULL,
      stopped integer NOT NULL DEFAULT 0,
      received_at bigint NOT NULL
    )`)
    await tx.run('CREATE UNIQUE INDEX sms_reply_sequence ON sms_reply (gateway, sequence)')
    await tx.run('CREATE INDEX sms_reply_account ON sms_reply (account_id, received_at, id)')
    await tx.run('CREATE INDEX sms_reply_time ON sms_reply (received_at)')

    // An empty signature means all signatures of the account.
    await tx.run(`CREATE TABLE sms_stop (
      id ${identity},
      account_id bigint NOT NULL,
      phone text NOT NULL,
      sign_name text NOT NULL,
      source text NOT NULL,
      reply_id bigint,
      created_at bigint NOT NULL
    )`)
    await tx.run('CREATE UNIQUE INDEX sms_stop_number ON sms_stop (account_id, phone, sign_name)')
    // So that a send queries the stop list only if the account has one.
    await tx.run('ALTER TABLE account ADD COLUMN has_stops integer NOT NULL DEFAULT 0')

    await tx.run(`ALTER TABLE sms_template ADD COLUMN type text NOT NULL DEFAULT 'notification'`)
    await tx.run(`ALTER TABLE sms_send ADD COLUMN receipt_code text NOT NULL DEFAULT ''`)

    // A reply is matched by its number over all accounts. The new index serves the lists of one account too.
    await tx.run('CREATE INDEX sms_send_number ON sms_send (phone, account_id, created_at, id)')
    await tx.run('DROP INDEX sms_send_phone')
  },
}
