// The functions that hide the engine return the same on both engines.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { byteOrder, forUpdate, idList, moveRows, tryLock, valueTable } from './dialect.ts'
import { findSetting, putSetting } from './setting-store.ts'

onEachEngine('dialect', (engine) => {
  it('selects by a list of ids, and from it', async () => {
    await using fresh = await freshDatabase(engine)
    const list = idList(fresh.db, [3, 1, 2])
    const rows = await fresh.db.all(`SELECT id FROM ${list.sql} AS list WHERE id IN (1, 3) ORDER BY id`, [
      list.value,
    ])
    assert.deepEqual(rows, [{ id: 1 }, { id: 3 }])
    const found = await fresh.db.all(`SELECT 1 AS found WHERE 2 IN ${list.sql}`, [list.value])
    assert.equal(found.length, 1)
    const empty = idList(fresh.db, [])
    assert.deepEqual(await fresh.db.all(`SELECT 1 AS found WHERE 2 IN ${empty.sql}`, [empty.value]), [])
  })

  it('updates and inserts from a table of values', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const columns = { setting_name: 'text', number: 'bigint', note: 'text' } as const
    const rows = [
      { setting_name: 'a', number: 9_007_199_254_740_991, note: `it's "quoted", {braces} and \\` },
      { setting_name: 'b', number: -1, note: null },
    ]
    await db.write(async (tx) => {
      const table = valueTable(tx, columns, rows)
      await tx.run(
        `INSERT INTO setting (name, value)
         SELECT t.setting_name, COALESCE(t.note, 'none') FROM ${table.sql} AS t ORDER BY t.setting_name
         ON CONFLICT (name) DO NOTHING`,
        table.values,
      )
      const changed = await tx.all(
        `UPDATE setting SET value = value || CAST(t.number AS text) FROM ${table.sql} AS t
         WHERE setting.name = t.setting_name AND t.number < 0 RETURNING name, value`,
        table.values,
      )
      assert.deepEqual(changed, [{ name: 'b', value: 'none-1' }])
    })
    assert.equal(await findSetting(db, 'a'), rows[0]!.note)
    const table = valueTable(db, columns, rows)
    const numbers = await db.all(`SELECT number FROM ${table.sql} AS t ORDER BY number`, table.values)
    assert.deepEqual(numbers, [{ number: -1 }, { number: 9_007_199_254_740_991 }])
  })

  it('keeps every text of a table of values', async () => {
    await using fresh = await freshDatabase(engine)
    const texts = [
      '',
      ' ',
      'NULL',
      'null',
      '{}',
      '[1,2]',
      '"',
      '\\',
      '\\"',
      '\\n',
      'a\nb',
      '\t',
      '\u0001',
      '中，文😀',
      `it's`,
      ',',
    ]
    for (const list of [texts, ...texts.map((text) => [text, null, 'next'])]) {
      const rows = list.map((text, position) => ({ position, text }))
      const table = valueTable(fresh.db, { position: 'bigint', text: 'text' }, rows)
      const found = await fresh.db.all(
        `SELECT t.position, t.text FROM ${table.sql} AS t ORDER BY t.position`,
        table.values,
      )
      assert.deepEqual(found, rows)
    }
  })

  it('keeps rows of values that differ in one column, in another one, or in none', async () => {
    await using fresh = await freshDatabase(engine)
    const columns = { number: 'bigint', text: 'text' } as const
    for (const rows of [
      [3, 1, 2, 1].map((number) => ({ number, text: '[1]' })),
      ['[1]', null, '"', ''].map((text) => ({ number: 9_007_199_254_740_991, text })),
      [null, 1].map((number) => ({ number, text: null })),
      [1, 1].map((number) => ({ number, text: 'same' })),
    ]) {
      const table = valueTable(fresh.db, columns, rows)
      const found = await fresh.db.all<(typeof rows)[number]>(
        `SELECT t.number, t.text FROM ${table.sql} AS t`,
        table.values,
      )
      assert.deepEqual(
        found.map((row) => JSON.stringify(row)).toSorted(),
        rows.map((row) => JSON.stringify(row)).toSorted(),
      )
    }
  })

  it('starts a join with the table of values', async () => {
    await using fresh = await freshDatabase(engine)
    if (engine !== 'sqlite') return
    const rows = [1, 2, 3].map((wanted_id) => ({ wanted_id, wanted_day: 1 }))
    const list = valueTable(fresh.db, { wanted_id: 'bigint', wanted_day: 'bigint' }, rows)
    const plan = await fresh.db.all<{ detail: string }>(
      `EXPLAIN QUERY PLAN SELECT v.link_id FROM ${list.sql} AS t
       JOIN link_visitor v ON v.day = t.wanted_day AND v.link_id = t.wanted_id`,
      list.values,
    )
    assert.match(plan.at(-1)!.detail, /^SEARCH v .*\(day=\? AND link_id=\?\)/)
  })

  it('locks rows and names until the transaction ends', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    await db.write((tx) => putSetting(tx, 'locked', '1'))
    await db.write(async (tx) => {
      await tx.one(`SELECT value FROM setting WHERE name = ?${forUpdate(tx)}`, ['locked'])
      assert.equal(await tryLock(tx, 42), true)
      if (engine === 'postgres') assert.equal(await db.write((other) => tryLock(other, 42)), false)
    })
    assert.equal(await db.write((tx) => tryLock(tx, 42)), true)
  })

  it('sorts by bytes', async () => {
    await using fresh = await freshDatabase(engine)
    const order = byteOrder(fresh.db, 'value')
    await fresh.db.write(async (tx) => {
      for (const value of ['b', 'A', 'a', 'B']) await putSetting(tx, `sort ${value}`, value)
    })
    const rows = await fresh.db.all<{ value: string }>(
      `SELECT value FROM setting WHERE name LIKE 'sort %' ORDER BY ${order}`,
    )
    assert.equal(rows.map(({ value }) => value).join(''), 'ABab')
  })

  it('moves rows into what is computed from them', async () => {
    await using fresh = await freshDatabase(engine)
    await fresh.db.write(async (tx) => {
      for (const name of ['m1', 'm2', 'n1']) await putSetting(tx, name, name)
      await moveRows(tx, {
        from: 'setting',
        where: 'name LIKE ?',
        columns: 'name, value',
        values: ['m%'],
        insert: (source) => `INSERT INTO setting (name, value)
          SELECT 'count', CAST(COUNT(*) AS text) FROM ${source} AS moved`,
      })
    })
    assert.equal(await findSetting(fresh.db, 'count'), '2')
    assert.equal(await findSetting(fresh.db, 'm1'), undefined)
    assert.equal(await findSetting(fresh.db, 'n1'), 'n1')
  })
})
