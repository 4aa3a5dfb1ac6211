// Events, the endpoints that receive them, their deliveries, and every attempt of a delivery.
import type { Migration } from './migration.ts'

export const events: Migration = {
  name: '0011-events',
  async run(tx, { identity }) {
    // Space-separated types that an endpoint of the account receives, so that other events are not written at all.
    await tx.run(`ALTER TABLE account ADD COLUMN event_types text NOT NULL DEFAULT ''`)

    await tx.run(`ALTER TABLE account ADD COLUMN alert_percents text NOT NULL DEFAULT '20,5'`)
    // The `expires_on` and the number of days that were last reported.
    await tx.run(`ALTER TABLE account ADD COLUMN expiry_reported text NOT NULL DEFAULT ''`)
    // The balance after the last grant, and the lowest percentage of it that was reported since.
    await tx.run('ALTER TABLE credit ADD COLUMN alert_base bigint NOT NULL DEFAULT 0')
    await tx.run('ALTER TABLE credit ADD COLUMN alerted_percent integer NOT NULL DEFAULT 101')
    await tx.run('UPDATE credit SET alert_base = total - used')

    await tx.run(`CREATE TABLE event (
      id ${identity},
      uid text NOT NULL,
      account_id bigint NOT NULL,
      type text NOT NULL,
      data text NOT NULL,
      alert_key text NOT NULL,
      at bigint NOT NULL
    )`)

    await tx.run(`CREATE TABLE event_endpoint (
      id ${identity},
      account_id bigint NOT NULL,
      kind text NOT NULL,
      url text NOT NULL,
      event_types text NOT NULL,
      secret text,
      previous_secret text,
      previous_until bigint,
      state text NOT NULL,
      disabled_reason text,
      failing_since bigint,
      paused_until bigint NOT NULL DEFAULT 0,
      lease_until bigint NOT NULL DEFAULT 0,
      served_at bigint NOT NULL DEFAULT 0,
      language text NOT NULL DEFAULT 'zh',
      confirm_hash text,
      confirm_attempts integer NOT NULL DEFAULT 0,
      created_at bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX event_endpoint_account ON event_endpoint (account_id)')

    await tx.run(`CREATE TABLE event_delivery (
      id ${identity},
      event_id bigint NOT NULL,
      endpoint_id bigint NOT NULL,
      account_id bigint NOT NULL,
      state text NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      due_at bigint NOT NULL,
      created_at bigint NOT NULL,
      ended_at bigint,
      last_status integer,
      last_error text
    )`)
    await tx.run('CREATE INDEX event_delivery_list ON event_delivery (endpoint_id, id)')
    await tx.run(
      `CREATE INDEX event_delivery_due ON event_delivery (endpoint_id, due_at) WHERE state = 'pending'`,
    )

    await tx.run(`CREATE TABLE event_attempt (
      id ${identity},
      delivery_id bigint NOT NULL,
      at bigint NOT NULL,
      duration_ms bigint NOT NULL,
      status integer,
      error text,
      response text NOT NULL
    )`)
    await tx.run('CREATE INDEX event_attempt_delivery ON event_attempt (delivery_id, id)')
  },
}
