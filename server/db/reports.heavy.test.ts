// Reads for people: they see committed data and do not block other queries.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'

onEachEngine('reports', (engine) => {
  /** Takes a second or more. */
  const slow =
    engine === 'sqlite'
      ? 'WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 3000000) SELECT COUNT(*) AS n FROM s'
      : 'SELECT COUNT(*) AS n FROM generate_series(1, 3000000) s(i)'

  it('42 run while other queries and writes are served', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    let finished = false
    const reports = Promise.all(Array.from({ length: 4 }, () => db.reports.one<{ n: number }>(slow))).then(
      (rows) => {
        finished = true
        return rows
      },
    )
    for (let i = 0; i < 5; i += 1) {
      await db.write((tx) => tx.run(`INSERT INTO setting (name, value) VALUES (?, '')`, [`n${i}`]))
      assert.ok(await db.one(`SELECT name FROM setting WHERE name = ?`, [`n${i}`]))
      assert.ok(!finished, 'the reports were faster or blocked the other queries')
    }
    assert.deepEqual(
      (await reports).map((row) => row?.n),
      Array(4).fill(3_000_000),
    )
  })

  it('let the event loop turn, however quickly one read follows another', async () => {
    await using fresh = await freshDatabase(engine)
    const { reports } = fresh.db
    await reports.one('SELECT 1 AS n')
    let turns = 0
    const count = () => {
      turns += 1
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    const readers = 4
    const reads = 50
    await Promise.all(
      Array.from({ length: readers }, async () => {
        for (let i = 0; i < reads; i += 1) {
          await reports.one('SELECT 1 AS n')
          // What is done with the rows takes longer than the next read.
          const end = performance.now() + 3
          while (performance.now() < end);
        }
      }),
    )
    clearImmediate(counting)
    assert.ok(turns >= reads / 2, `${turns} turns for ${readers * reads} reads`)
  })

  it('see what is committed, through SQL and Kysely', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    for (let i = 0; i < 10; i += 1) {
      await db.write((tx) => tx.run(`INSERT INTO setting (name, value) VALUES (?, ?)`, [`n${i}`, `${i}`]))
      assert.deepEqual(await db.reports.one('SELECT value FROM setting WHERE name = ?', [`n${i}`]), {
        value: `${i}`,
      })
      const { length } = await db.reports.all(`SELECT name FROM setting WHERE name LIKE 'n%'`)
      assert.equal(length, i + 1)
      const row = await db.reports.kysely
        .selectFrom('setting')
        .select('value')
        .where('name', '=', `n${i}`)
        .executeTakeFirst()
      assert.equal(row?.value, `${i}`)
    }
  })

  it('report errors and go on', async () => {
    await using fresh = await freshDatabase(engine)
    await assert.rejects(
      fresh.db.reports.all('SELECT missing FROM setting'),
      /no such column|syntax error|does not exist/,
    )
    assert.deepEqual(await fresh.db.reports.all('SELECT name FROM setting WHERE name = ?', ['none']), [])
  })
})
