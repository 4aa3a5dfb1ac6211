// The last day on which an operator token is valid.
import type { Migration } from './migration.ts'

export const tokenExpiry: Migration = {
  name: '0023-token-expiry',
  async run(tx) {
    await tx.run('ALTER TABLE operator_token ADD COLUMN expires_on text')
  },
}
