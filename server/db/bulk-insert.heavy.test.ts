// Bulk inserts: all rows, in order, with their ids.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { bulkInsert, insertRows, insertRowsReturningIds } from './bulk-insert.ts'

const ledger = bulkInsert('ledger', {
  account_id: 'bigint',
  api_type: 'text',
  kind: 'text',
  note: 'text',
  amount: 'bigint',
  balance_after: 'bigint',
  at: 'bigint',
})
const settings = bulkInsert('setting', { name: 'text', value: 'text' }, 'ON CONFLICT (name) DO NOTHING')

function grant(row: { note?: string; amount: number; balance: number }) {
  const { note = null, amount, balance } = row
  const at = Date.now()
  return { account_id: 7, api_type: 'sms', kind: 'grant', note, amount, balance_after: balance, at } as const
}

onEachEngine('bulk insert', (engine) => {
  for (const count of [0, 1, 2, 3, 7, 8, 55, 63, 64, 65, 200]) {
    it(`returns the ids of ${count} rows in the order of the rows`, async () => {
      await using fresh = await freshDatabase(engine)
      const rows = Array.from({ length: count }, (_, i) => grant({ amount: i, balance: 0 }))
      const ids = await fresh.db.write((tx) => insertRowsReturningIds(tx, ledger, rows))
      assert.equal(ids.length, count)
      const stored = await fresh.db.all<{ id: number; amount: number; at: number }>(
        'SELECT id, amount, at FROM ledger ORDER BY id',
      )
      assert.deepEqual(
        stored.map(({ id, amount }) => [id, amount]),
        ids.map((id, i) => [id, i]),
      )
      assert.ok(stored.every(({ at }) => Math.abs(at - Date.now()) < 3_600_000))
    })
  }

  it('rolls back the rows of a job with an invalid row, and of no other job', async () => {
    await using fresh = await freshDatabase(engine)
    const row = (note: string, balance: number) => grant({ note, amount: 1, balance })
    const good = fresh.db.write((tx) => insertRows(tx, ledger, [row('good', 1), row('good', 2)]))
    const bad = fresh.db.write((tx) => insertRows(tx, ledger, [row('bad', 1), row('bad', 2), row('bad', -1)]))
    const after = fresh.db.write((tx) => insertRows(tx, ledger, [row('after', 1)]))
    await assert.rejects(bad)
    assert.deepEqual(await Promise.all([good, after]), [2, 1])
    await assert.rejects(fresh.db.write((tx) => insertRows(tx, ledger, [row('alone', 1), row('alone', -1)])))
    const notes = await fresh.db.all<{ note: string }>('SELECT note FROM ledger ORDER BY note')
    assert.deepEqual(
      notes.map(({ note }) => note),
      ['after', 'good', 'good'],
    )
  })

  it('returns how many rows were inserted when some exist already', async () => {
    await using fresh = await freshDatabase(engine)
    const rows = Array.from({ length: 80 }, (_, i) => ({ name: `n${i}`, value: 'first' }))
    assert.equal(await fresh.db.write((tx) => insertRows(tx, settings, rows.slice(0, 30))), 30)
    assert.equal(
      await fresh.db.write((tx) =>
        insertRows(
          tx,
          settings,
          rows.map(({ name }) => ({ name, value: 'second' })),
        ),
      ),
      50,
    )
    const kept = await fresh.db.all(`SELECT name FROM setting WHERE value = 'first'`)
    assert.equal(kept.length, 30)
  })
})
