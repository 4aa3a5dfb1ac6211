// What has been checked of the ledger, so that an hourly check reads only what is new.
import type { Migration } from './migration.ts'

export const ledgerCheckpoints: Migration = {
  name: '0025-ledger-checkpoints',
  async run(tx) {
    // Sums of the entries up to `entry_id`. The position of the whole checkpoint is a setting.
    await tx.run(`CREATE TABLE ledger_checkpoint (
      account_id bigint NOT NULL,
      api_type text NOT NULL,
      entry_id bigint NOT NULL,
      bought bigint NOT NULL,
      spent bigint NOT NULL,
      PRIMARY KEY (account_id, api_type)
    )`)
  },
}
