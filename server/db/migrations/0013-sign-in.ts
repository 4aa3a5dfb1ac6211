// Signing in: second factors, verified mail addresses, links to an OpenID provider, and the list of sign-ins.
import type { Migration } from './migration.ts'

export const signIn: Migration = {
  name: '0013-sign-in',
  async run(tx, { identity }) {
    await tx.run(`ALTER TABLE console_session ADD COLUMN method text NOT NULL DEFAULT 'password'`)
    // When the user last proved, in this session, who they are. Null: not since the sign-in.
    await tx.run('ALTER TABLE console_session ADD COLUMN confirmed_at bigint')

    await tx.run(`CREATE TABLE second_factor (
      account_id bigint PRIMARY KEY,
      secret text NOT NULL,
      last_step bigint NOT NULL DEFAULT 0,
      enabled_at bigint
    )`)
    await tx.run(`CREATE TABLE recovery_code (
      account_id bigint NOT NULL,
      code_hash text NOT NULL,
      PRIMARY KEY (account_id, code_hash)
    )`)

    await tx.run(`CREATE TABLE account_mail (
      account_id bigint PRIMARY KEY,
      address text NOT NULL,
      address_hash text NOT NULL,
      verified_at bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX account_mail_address ON account_mail (address_hash)')
    await tx.run(`CREATE TABLE mail_token (
      id ${identity},
      account_id bigint NOT NULL,
      purpose text NOT NULL,
      token_hash text NOT NULL,
      address text NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      created_at bigint NOT NULL
    )`)
    await tx.run('CREATE INDEX mail_token_hash ON mail_token (token_hash)')
    await tx.run('CREATE INDEX mail_token_account ON mail_token (account_id)')

    await tx.run(`CREATE TABLE oidc_link (
      issuer text NOT NULL,
      subject text NOT NULL,
      account_id bigint NOT NULL,
      name text NOT NULL,
      linked_at bigint NOT NULL,
      PRIMARY KEY (issuer, subject)
    )`)
    await tx.run('CREATE INDEX oidc_link_account ON oidc_link (account_id)')

    await tx.run(`CREATE TABLE sign_in (
      id ${identity},
      account_id bigint NOT NULL,
      at bigint NOT NULL,
      address text NOT NULL,
      network text NOT NULL,
      place text NOT NULL,
      device text NOT NULL,
      agent text NOT NULL,
      method text NOT NULL,
      second_factor text NOT NULL,
      is_new integer NOT NULL
    )`)
    await tx.run('CREATE INDEX sign_in_account ON sign_in (account_id, id)')
  },
}
