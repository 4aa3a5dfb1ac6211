// The guarantees of both engines: all or nothing, acknowledged means durable, one consistent view.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, emptyStorage, freshStorage, onEachEngine } from '../../test/support/engines.ts'
import type { Tx } from './database.ts'
import { migrate, SchemaMismatch } from './migrate.ts'
import { findSetting, insertSetting, putSetting } from './setting-store.ts'

const failure = new Error('this job fails')

async function failAfterWriting(tx: Tx): Promise<never> {
  await putSetting(tx, 'half', 'done')
  throw failure
}

onEachEngine('database', (engine) => {
  it('resolves a job after it is committed', async () => {
    await using fresh = await freshDatabase(engine)
    const value = await fresh.db.write(async (tx) => {
      await putSetting(tx, 'a', '1')
      return 'done'
    })
    assert.equal(value, 'done')
    const other = fresh.storage.open()
    assert.equal(await findSetting(other, 'a'), '1')
    await other.close()
  })

  it('rolls back a job that throws, and commits the others', async () => {
    await using fresh = await freshDatabase(engine)
    const results = await Promise.allSettled([
      fresh.db.write((tx) => putSetting(tx, 'before', '1')),
      fresh.db.write(failAfterWriting),
      fresh.db.write((tx) => putSetting(tx, 'after', '1')),
    ])
    assert.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.equal(results[1].status === 'rejected' && results[1].reason, failure)
    assert.equal(await findSetting(fresh.db, 'before'), '1')
    assert.equal(await findSetting(fresh.db, 'half'), undefined)
    assert.equal(await findSetting(fresh.db, 'after'), '1')
  })

  it('rolls back a single job that throws', async () => {
    await using fresh = await freshDatabase(engine)
    await assert.rejects(fresh.db.write(failAfterWriting), failure)
    assert.equal(await findSetting(fresh.db, 'half'), undefined)
    await fresh.db.probe((tx) => putSetting(tx, 'heartbeat', ''))
  })

  it('runs a statement as a transaction of its own', async () => {
    await using fresh = await freshDatabase(engine)
    const { writeStatement } = fresh.db
    assert.equal(writeStatement !== undefined, engine === 'postgres')
    if (!writeStatement) return
    const insert = `WITH one AS (INSERT INTO setting (name, value) VALUES ('one', ?)),
      two AS (INSERT INTO setting (name, value) VALUES ('two', ?))
      SELECT 1 / CAST(? AS bigint) AS divided`
    // An error undoes all parts, and the connection stays usable.
    for (let n = 0; n < 3; n += 1) await assert.rejects(writeStatement(insert, ['1', '2', 0]), /division/)
    assert.equal(await findSetting(fresh.db, 'one'), undefined)
    assert.deepEqual(await writeStatement(insert, ['1', '2', 1]), [{ divided: 1 }])
    const other = fresh.storage.open()
    assert.equal(await findSetting(other, 'one'), '1')
    assert.equal(await findSetting(other, 'two'), '2')
    await other.close()
    await fresh.db.write((tx) => putSetting(tx, 'fine', '1'))
    assert.equal(await findSetting(fresh.db, 'fine'), '1')
  })

  it('commits a statement together with one that needs its rows, or neither', async () => {
    await using fresh = await freshDatabase(engine)
    const { writeStatement } = fresh.db
    if (!writeStatement) return
    const insert = `INSERT INTO setting (name, value) VALUES (?, 'first') RETURNING name`
    const append = (divisor: number) => (rows: readonly { readonly name: string }[]) => {
      const [row] = rows
      return [
        `UPDATE setting SET value = value || CAST(1 / CAST(? AS bigint) AS text) WHERE name = ?`,
        [divisor, row!.name],
      ] as const
    }
    const valueOf = async (name: string) => findSetting(fresh.db, name)
    assert.deepEqual(await writeStatement(insert, ['both'], append(1)), [{ name: 'both' }])
    assert.equal(await valueOf('both'), 'first1')
    assert.deepEqual(await writeStatement(insert, ['one'], () => undefined), [{ name: 'one' }])
    assert.equal(await valueOf('one'), 'first')
    for (let n = 0; n < 3; n += 1)
      await assert.rejects(writeStatement(insert, ['neither'], append(0)), /division/)
    const fail = () => {
      throw failure
    }
    await assert.rejects(writeStatement(insert, ['neither'], fail), failure)
    await assert.rejects(writeStatement(insert, ['both'], append(1)), /duplicate/)
    assert.equal(await valueOf('neither'), undefined)
    assert.equal(await valueOf('both'), 'first1')
    await fresh.db.write((tx) => putSetting(tx, 'fine', '1'))
    assert.equal(await valueOf('fine'), '1')
  })

  it('fails only the job with an invalid statement', async () => {
    await using fresh = await freshDatabase(engine)
    const results = await Promise.allSettled([
      fresh.db.write((tx) => tx.run('INSERT INTO nowhere VALUES (1)')),
      fresh.db.write((tx) => putSetting(tx, 'fine', '1')),
    ])
    assert.deepEqual(
      results.map((result) => result.status),
      ['rejected', 'fulfilled'],
    )
  })

  it('loses no increment of several processes on one row', async () => {
    await using fresh = await freshDatabase(engine)
    await fresh.db.write((tx) => insertSetting(tx, 'count', '0'))
    const others = [fresh.db, fresh.storage.open(), fresh.storage.open()]
    const bump = (tx: Tx) =>
      tx.run(`UPDATE setting SET value = CAST(CAST(value AS integer) + 1 AS text) WHERE name = 'count'`)
    await Promise.all(others.flatMap((db) => Array.from({ length: 50 }, () => db.write(bump))))
    assert.equal(await findSetting(fresh.db, 'count'), '150')
    await Promise.all(others.slice(1).map((db) => db.close()))
  })

  it('reads one state in a snapshot while others write', async () => {
    await using fresh = await freshDatabase(engine)
    await fresh.db.write((tx) => putSetting(tx, 'seen', '1'))
    await fresh.db.snapshot(async (snapshot) => {
      await snapshot.all('SELECT 1 AS one FROM setting')
      await fresh.db.write((tx) => putSetting(tx, 'unseen', '1'))
      const names: unknown[] = []
      for await (const page of snapshot.rows('setting')) names.push(...page.map((row) => row['name']))
      assert.ok(names.includes('seen') && !names.includes('unseen'))
    })
    assert.equal(await findSetting(fresh.db, 'unseen'), '1')
  })

  it('migrates once when several processes start at the same time', async () => {
    const storage = await emptyStorage(engine)
    const opened = [storage.open(), storage.open(), storage.open()]
    const applied = await Promise.all(opened.map((db) => migrate(db)))
    assert.equal(applied.filter((names) => names.length > 0).length, 1)
    await Promise.all(opened.map((db) => db.close()))
    await storage.remove()
  })

  it('rejects a database that a newer version has migrated', async () => {
    await using fresh = await freshDatabase(engine)
    await fresh.db.write((tx) => tx.run(`INSERT INTO migration (name, applied_at) VALUES ('9999-future', 0)`))
    await assert.rejects(migrate(fresh.db), SchemaMismatch)
    await fresh.db.write((tx) =>
      tx.run(`UPDATE migration SET oldest_version = '99.0.0' WHERE name = '9999-future'`),
    )
    await assert.rejects(migrate(fresh.db), SchemaMismatch)
  })

  it('works on a database that a newer version has migrated for this version too', async () => {
    await using fresh = await freshDatabase(engine)
    await fresh.db.write((tx) =>
      tx.run(`INSERT INTO migration (name, applied_at, oldest_version) VALUES ('9999-future', 0, '0.2.0')`),
    )
    assert.deepEqual(await migrate(fresh.db), [])
  })

  it('goes on with its prepared statements when a newer version adds a column', async () => {
    await using fresh = await freshDatabase(engine)
    const readAll = () => fresh.db.all('SELECT * FROM redeem_batch')
    const readInTransaction = () => fresh.db.write((tx) => tx.all('SELECT * FROM redeem_batch WHERE id > 0'))
    const both = () => Promise.all(Array.from({ length: 8 }, () => [readAll(), readInTransaction()]).flat())
    await both()
    const newer = fresh.storage.open()
    for (const column of ['one', 'two']) {
      await newer.write((tx) => tx.run(`ALTER TABLE redeem_batch ADD COLUMN ${column} text`))
      await both()
    }
    await newer.close()
  })

  it('names the last version that can read a database of a development version', async () => {
    const storage = await emptyStorage(engine)
    const db = storage.open()
    await db.write(async (tx) => {
      await tx.run('CREATE TABLE migration (name text PRIMARY KEY, applied_at bigint NOT NULL)')
      await tx.run(
        `INSERT INTO migration (name, applied_at) VALUES ('0001-foundation', 0), ('0010-shortlink', 0)`,
      )
    })
    await assert.rejects(migrate(db), /the last version that can read it is 0\.1\.0$/)
    await db.close()
    await storage.remove()
  })

  it('rejects a transaction through Kysely', async () => {
    await using fresh = await freshDatabase(engine)
    await assert.rejects(fresh.db.kysely.transaction().execute(async () => undefined))
  })

  it('finishes queued jobs before it closes', async () => {
    const storage = await freshStorage(engine)
    const db = storage.open()
    await migrate(db)
    const written = db.write((tx) => putSetting(tx, 'last', '1'))
    await Promise.all([written, db.close()])
    await assert.rejects(db.write((tx) => putSetting(tx, 'too late', '1')))
    const again = storage.open()
    assert.equal(await findSetting(again, 'last'), '1')
    await again.close()
    await storage.remove()
  })
})
