// The ledger entries of codes that were redeemed before the migration name their code.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { redeemedEntries } from './0029-redeemed-entries.ts'
import { columnTypes } from './migration.ts'

onEachEngine('entries of redeem codes', (engine) => {
  it('get the code of their account that the note names', async () => {
    await using fresh = await freshDatabase(engine)
    const ids = await fresh.db.write(async (tx) => {
      await tx.run('ALTER TABLE ledger DROP COLUMN redeem_code_id')
      const batchId = await tx.insert(
        `INSERT INTO redeem_batch (api_type, amount, count, note, created_by, created_at) VALUES ('sms', 1, 3, '', 'admin', 1)`,
      )
      const codes = []
      for (const [accountId, state] of [
        [7, 'redeemed'],
        [8, 'redeemed'],
        [9, 'unused'],
      ]) {
        codes.push(
          await tx.insert(
            `INSERT INTO redeem_code (batch_id, code_hash, hint, state, account_id) VALUES (?, ?, 'TG-A…Z', ?, ?)`,
            [batchId, `hash ${accountId}`, state!, accountId!],
          ),
        )
      }
      const entries: [number, string, string | null][] = [
        [7, 'grant', '兑换码 TG-A…Z'],
        [8, 'grant', '兑换码 TG-A…Z'],
        [7, 'grant', '兑换码 other'],
        [7, 'adjust', '兑换码 TG-A…Z'],
        [9, 'grant', '兑换码 TG-A…Z'],
        [7, 'grant', null],
      ]
      for (const entry of entries) {
        await tx.run(
          `INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, note, at) VALUES (?, 'sms', ?, 1, 1, ?, 1)`,
          entry,
        )
      }
      await redeemedEntries.run(tx, columnTypes[engine])
      return codes
    })
    const rows = await fresh.db.all<{ redeem_code_id: number | null }>(
      'SELECT redeem_code_id FROM ledger ORDER BY id',
    )
    assert.deepEqual(
      rows.map((row) => row.redeem_code_id),
      [ids[0], ids[1], null, null, null, null],
    )
  })
})
