// Identity verifications: masks, a keyed hash and the verdict. Never a name, never an identity number.
import type { Migration } from './migration.ts'

export const identity: Migration = {
  name: '0004-identity',
  async run(tx, types) {
    await tx.run(`CREATE TABLE identity_record (
      id ${types.identity},
      account_id bigint NOT NULL,
      name_mask text NOT NULL,
      number_mask text NOT NULL,
      person_hash text NOT NULL,
      generation integer NOT NULL,
      verdict text NOT NULL,
      gateway text,
      reason text,
      operation_id bigint NOT NULL,
      request_id text NOT NULL,
      at bigint NOT NULL,
      CONSTRAINT identity_record_verdict CHECK (verdict IN ('match', 'mismatch', 'no_record', 'failed'))
    )`)
    await tx.run('CREATE INDEX identity_record_history ON identity_record (account_id, id)')
    await tx.run('CREATE INDEX identity_record_repeat ON identity_record (account_id, person_hash)')
    await tx.run('CREATE INDEX identity_record_age ON identity_record (at)')
  },
}
