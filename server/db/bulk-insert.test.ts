// Rows that go in together: all of them, in order, with the ids they got.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { type Insertion, insertRows, insertRowsWithIds } from './bulk-insert.ts'

const ledger: Insertion = {
  into: 'INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, at)',
  row: `(?, 'sms', 'grant', ?, 0, ?)`,
}
const settings: Insertion = {
  into: 'INSERT INTO setting (name, value)',
  row: '(?, ?)',
  end: 'ON CONFLICT (name) DO NOTHING',
}

onEachEngine('rows inserted together', (engine) => {
  for (const count of [0, 1, 2, 3, 7, 8, 55, 63, 64, 65, 200]) {
    it(`${count} rows have their ids in the order of the rows`, async () => {
      await using fresh = await freshDatabase(engine)
      const rows = Array.from({ length: count }, (_, i) => [7, i, Date.now()])
      const ids = await fresh.db.write((tx) => insertRowsWithIds(tx, ledger, rows))
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

  it('rows beside a wrong one are gone with their job, and with no other', async () => {
    await using fresh = await freshDatabase(engine)
    const row = (note: string, balance: number) => [7, note, balance, Date.now()]
    const noted: Insertion = {
      into: 'INSERT INTO ledger (account_id, api_type, kind, note, amount, balance_after, at)',
      row: `(?, 'sms', 'grant', ?, 1, ?, ?)`,
    }
    const good = fresh.db.write((tx) => insertRows(tx, noted, [row('good', 1), row('good', 2)]))
    const bad = fresh.db.write((tx) => insertRows(tx, noted, [row('bad', 1), row('bad', 2), row('bad', -1)]))
    const after = fresh.db.write((tx) => insertRows(tx, noted, [row('after', 1)]))
    await assert.rejects(bad)
    assert.deepEqual(await Promise.all([good, after]), [2, 1])
    await assert.rejects(fresh.db.write((tx) => insertRows(tx, noted, [row('alone', 1), row('alone', -1)])))
    const notes = await fresh.db.all<{ note: string }>('SELECT note FROM ledger ORDER BY note')
    assert.deepEqual(
      notes.map(({ note }) => note),
      ['after', 'good', 'good'],
    )
  })

  it('tells how many went in where some were there already', async () => {
    await using fresh = await freshDatabase(engine)
    const rows = Array.from({ length: 80 }, (_, i) => [`n${i}`, 'first'])
    assert.equal(await fresh.db.write((tx) => insertRows(tx, settings, rows.slice(0, 30))), 30)
    assert.equal(
      await fresh.db.write((tx) =>
        insertRows(
          tx,
          settings,
          rows.map(([name]) => [name!, 'second']),
        ),
      ),
      50,
    )
    const kept = await fresh.db.all(`SELECT name FROM setting WHERE value = 'first'`)
    assert.equal(kept.length, 30)
  })
})
