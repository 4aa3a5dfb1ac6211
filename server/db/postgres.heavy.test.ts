// Failures that only PostgreSQL has: an unavailable server, a deadlock.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startPostgres } from '../../test/support/postgres.ts'
import { until } from '../../test/support/until.ts'
import { DatabaseUnavailable } from './database.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './postgres.ts'
import { findSetting, putSetting } from './setting-store.ts'

it(
  'reports that the database is unavailable, and recovers when it is available again',
  { timeout: 60_000 },
  async () => {
    const server = await startPostgres({ durable: true })
    const db = openPostgres(server.url)
    try {
      await migrate(db)
      await db.write((tx) => putSetting(tx, 'kept', '1'))
      await server.kill()
      await assert.rejects(
        db.write((tx) => putSetting(tx, 'lost', '1')),
        DatabaseUnavailable,
      )
      await assert.rejects(findSetting(db, 'kept'))
      await server.restart()
      // Idle connections that broke are noticed one by one; the first attempts may still use one.
      for (let tries = 0; ; tries++) {
        try {
          await db.write((tx) => putSetting(tx, 'again', '1'))
          break
        } catch (error) {
          if (tries > 50) throw error
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
      assert.equal(await findSetting(db, 'kept'), '1')
      assert.equal(await findSetting(db, 'lost'), undefined)
    } finally {
      await db.close()
      await server.stop()
    }
  },
)

it('reports that the database is unavailable when it ends during a statement', async () => {
  const server = await startPostgres({ durable: true })
  const db = openPostgres(server.url)
  try {
    await migrate(db)
    const statement = db.writeStatement!(
      `WITH one AS (INSERT INTO setting (name, value) VALUES ('lost', ?)) SELECT pg_sleep(30)`,
      ['1'],
    )
    const rejected = assert.rejects(statement, DatabaseUnavailable)
    const isSleeping = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    await until(async () => (await db.all(isSleeping)).length === 1)
    await server.kill()
    await rejected
    await server.restart()
    await until(() =>
      findSetting(db, 'lost').then(
        (value) => value === undefined,
        () => false,
      ),
    )
  } finally {
    await db.close()
    await server.stop()
  }
})

it('runs a job again after a deadlock', async () => {
  const server = await startPostgres()
  const db = openPostgres(server.url)
  try {
    await migrate(db)
    await db.write(async (tx) => {
      await putSetting(tx, 'a', '0')
      await putSetting(tx, 'b', '0')
    })
    const touch = (first: string, second: string) =>
      db.write(async (tx) => {
        await tx.run('UPDATE setting SET value = CAST(CAST(value AS integer) + 1 AS text) WHERE name = ?', [
          first,
        ])
        await new Promise((resolve) => setTimeout(resolve, 50))
        await tx.run('UPDATE setting SET value = CAST(CAST(value AS integer) + 1 AS text) WHERE name = ?', [
          second,
        ])
      })
    await Promise.all([touch('a', 'b'), touch('b', 'a')])
    assert.equal(await findSetting(db, 'a'), '2')
    assert.equal(await findSetting(db, 'b'), '2')
  } finally {
    await db.close()
    await server.stop()
  }
})

it('reads a few of a thousand accounts by their index', async () => {
  const server = await startPostgres()
  const db = openPostgres(server.url)
  try {
    await migrate(db)
    const plan = await db.write(async (tx) => {
      await tx.run(`INSERT INTO account (username, role, password_hash, created_at)
        SELECT 'account' || n, 'account', '', 0 FROM generate_series(1, 1000) AS n`)
      await tx.run('ANALYZE account')
      return tx.all<object>(
        `EXPLAIN SELECT a.key_hash FROM unnest(CAST(? AS bigint[])) AS list (account_id)
        JOIN account a ON a.id = list.account_id`,
        [[1, 2, 3, 4, 5, 6, 7, 8]],
      )
    })
    assert.match(JSON.stringify(plan), /Index Scan using account_pkey/)
  } finally {
    await db.close()
    await server.stop()
  }
})

it('plans statements again while tables grow', { timeout: 120_000 }, async () => {
  const server = await startPostgres({ settings: { autovacuum: 'off' } })
  const db = openPostgres(server.url, { poolSize: 1 })
  try {
    await db.write(async (tx) => {
      await tx.run('CREATE TABLE item (id bigint PRIMARY KEY, count bigint NOT NULL)')
      await tx.run('INSERT INTO item SELECT n, 0 FROM generate_series(1, 3) AS n')
      await tx.run('ANALYZE item')
    })
    const update = `UPDATE item SET count = count + 1 FROM unnest(CAST(? AS bigint[])) AS list (item_id)
      WHERE id = list.item_id`
    const count = (ids: readonly number[]) => db.write((tx) => tx.run(update, [ids]))
    const readsWholeTable = () =>
      db.write(async (tx) => {
        const statement = await tx.one<{ name: string }>(
          `SELECT name FROM pg_prepared_statements WHERE statement LIKE 'UPDATE item%'`,
        )
        const plan = await tx.all<object>(`EXPLAIN EXECUTE ${statement!.name} ('{1,2,3}')`)
        return JSON.stringify(plan).includes('Seq Scan on item')
      })
    // The server keeps the plan of a statement that was executed a few times.
    for (let i = 0; i < 10; i += 1) await count([1, 2, 3])
    assert.ok(await readsWholeTable())
    await db.write((tx) => tx.run('INSERT INTO item SELECT n, 0 FROM generate_series(4, 50000) AS n'))
    await until(async () => {
      await count([1, 2, 3])
      return !(await readsWholeTable())
    })
  } finally {
    await db.close()
    await server.stop()
  }
})
