// The redeem code that granted the credits of a ledger entry: until now only the note named it.
import type { Migration } from './migration.ts'

export const redeemedEntries: Migration = {
  name: '0029-redeemed-entries',
  async run(tx) {
    await tx.run('ALTER TABLE ledger ADD COLUMN redeem_code_id bigint')
    // By the index `ledger_not_charges`: the other entries are not read.
    await tx.run(`UPDATE ledger SET redeem_code_id = c.id FROM redeem_code c
      WHERE c.state = 'redeemed' AND ledger.account_id = c.account_id AND ledger.kind = 'grant' AND ledger.kind <> 'charge'
        AND ledger.note = '兑换码 ' || c.hint`)
  },
}
