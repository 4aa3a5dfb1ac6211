// Packages, orders with their history, refunds and reconciliation; monthly statements; invoice requests.
import type { Migration } from './migration.ts'

export const payments: Migration = {
  name: '0015-payments',
  async run(tx, { identity }) {
    await tx.run(`CREATE TABLE credit_package (
      id ${identity},
      code text NOT NULL UNIQUE,
      name text NOT NULL,
      credits text NOT NULL,
      price bigint NOT NULL,
      currency text NOT NULL,
      hidden integer NOT NULL DEFAULT 0,
      created_at bigint NOT NULL,
      CONSTRAINT credit_package_price CHECK (price > 0)
    )`)

    await tx.run(`CREATE TABLE payment_order (
      id ${identity},
      number text NOT NULL UNIQUE,
      account_id bigint NOT NULL,
      package_code text NOT NULL,
      package_name text NOT NULL,
      amount bigint NOT NULL,
      currency text NOT NULL,
      provider text NOT NULL,
      state text NOT NULL,
      pay_token text NOT NULL UNIQUE,
      pay_url text,
      code_url text,
      provider_ref text,
      trade_number text,
      sandbox_paid_at bigint,
      refunded bigint NOT NULL DEFAULT 0,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL,
      provider_expires_at bigint NOT NULL,
      paid_at bigint,
      granted_at bigint,
      closed_at bigint,
      next_query_at bigint,
      lease_until bigint NOT NULL DEFAULT 0,
      CONSTRAINT payment_order_amount CHECK (amount > 0 AND refunded >= 0 AND refunded <= amount),
      CONSTRAINT payment_order_state CHECK (state IN ('pending', 'paid', 'granted', 'closed', 'refunded', 'partly_refunded'))
    )`)
    await tx.run('CREATE INDEX payment_order_account ON payment_order (account_id, id)')
    await tx.run('CREATE INDEX payment_order_paid ON payment_order (paid_at) WHERE paid_at IS NOT NULL')
    await tx.run(
      'CREATE INDEX payment_order_due ON payment_order (provider, next_query_at) WHERE next_query_at IS NOT NULL',
    )

    // What the order grants, and how much of it refunds took back.
    await tx.run(`CREATE TABLE payment_order_item (
      order_id bigint NOT NULL,
      api_type text NOT NULL,
      amount bigint NOT NULL,
      taken bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (order_id, api_type),
      CONSTRAINT payment_order_item_taken CHECK (amount > 0 AND taken >= 0 AND taken <= amount)
    )`)

    await tx.run(`CREATE TABLE payment_order_event (
      id ${identity},
      order_id bigint NOT NULL,
      at bigint NOT NULL,
      event text NOT NULL,
      note text NOT NULL
    )`)
    await tx.run('CREATE INDEX payment_order_event_order ON payment_order_event (order_id, id)')

    await tx.run(`CREATE TABLE payment_refund (
      id ${identity},
      order_id bigint NOT NULL,
      provider text NOT NULL,
      number text NOT NULL UNIQUE,
      amount bigint NOT NULL,
      credits text NOT NULL,
      state text NOT NULL,
      note text NOT NULL,
      requested_by text NOT NULL,
      provider_ref text,
      attempts integer NOT NULL DEFAULT 0,
      last_reason text,
      created_at bigint NOT NULL,
      ended_at bigint,
      next_attempt_at bigint,
      lease_until bigint NOT NULL DEFAULT 0,
      CONSTRAINT payment_refund_amount CHECK (amount > 0),
      CONSTRAINT payment_refund_state CHECK (state IN ('pending', 'succeeded', 'failed'))
    )`)
    await tx.run('CREATE INDEX payment_refund_order ON payment_refund (order_id, id)')
    await tx.run(
      'CREATE INDEX payment_refund_due ON payment_refund (provider, next_attempt_at) WHERE next_attempt_at IS NOT NULL',
    )

    // Signed notifications that fit no order of ours.
    await tx.run(`CREATE TABLE payment_refusal (
      id ${identity},
      at bigint NOT NULL,
      provider text NOT NULL,
      order_number text NOT NULL,
      reason text NOT NULL
    )`)

    await tx.run(`CREATE TABLE payment_reconciliation (
      id ${identity},
      provider text NOT NULL,
      day text NOT NULL,
      state text NOT NULL,
      orders integer NOT NULL DEFAULT 0,
      amount bigint NOT NULL DEFAULT 0,
      differences integer NOT NULL DEFAULT 0,
      last_order_id bigint NOT NULL DEFAULT 0,
      at bigint NOT NULL,
      lease_until bigint NOT NULL DEFAULT 0,
      UNIQUE (provider, day)
    )`)
    await tx.run(`CREATE TABLE payment_difference (
      id ${identity},
      reconciliation_id bigint NOT NULL,
      order_number text NOT NULL,
      kind text NOT NULL,
      ours text NOT NULL,
      theirs text NOT NULL,
      at bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX payment_difference_list ON payment_difference (reconciliation_id, id)')

    await tx.run(`CREATE TABLE statement (
      id ${identity},
      account_id bigint NOT NULL,
      month text NOT NULL,
      content text NOT NULL,
      digest text NOT NULL,
      signature text NOT NULL,
      created_at bigint NOT NULL,
      UNIQUE (account_id, month)
    )`)

    await tx.run(`CREATE TABLE invoice (
      id ${identity},
      account_id bigint NOT NULL,
      title text NOT NULL,
      tax_number text NOT NULL,
      address text NOT NULL,
      mail text NOT NULL,
      amount bigint NOT NULL,
      currency text NOT NULL,
      note text NOT NULL,
      state text NOT NULL,
      reason text NOT NULL DEFAULT '',
      file_name text,
      file text,
      created_at bigint NOT NULL,
      ended_at bigint,
      CONSTRAINT invoice_state CHECK (state IN ('open', 'issued', 'rejected'))
    )`)
    await tx.run('CREATE INDEX invoice_account ON invoice (account_id, id)')
    await tx.run(`CREATE INDEX invoice_open ON invoice (id) WHERE state = 'open'`)
    // Each paid order is in one invoice that was not rejected.
    await tx.run(`CREATE TABLE invoice_order (
      order_id bigint PRIMARY KEY,
      invoice_id bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX invoice_order_invoice ON invoice_order (invoice_id)')
  },
}
