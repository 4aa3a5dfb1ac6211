// Charges per second on both engines, beside their limit in the same run: the same statements with nothing around them.
import { DatabaseSync } from 'node:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createAccount } from '../server/accounts/accounts.ts'
import { openCredits } from '../server/credits/credits.ts'
import type { Database } from '../server/db/database.ts'
import { migrate } from '../server/db/migrate.ts'
import { openPostgres } from '../server/db/postgres.ts'
import { openSqlite } from '../server/db/sqlite.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { type Measured, measure, printRow } from './measure.ts'

const inFlight = 64
const accounts = 1_000
const plenty = 1_000_000_000

export async function chargeBench(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  const postgres = await startPostgres({ durable: true })
  try {
    process.stdout.write(`charge, ${inFlight} in flight\n`)
    const bareSqlite = await bareSqliteLoop(join(directory, 'bare.db'))
    printRow('SQLite, bare loop of the same statements', bareSqlite)
    const sqlite = openSqlite(join(directory, 'service.db'))
    await measureCharges('SQLite', sqlite, 60_000, bareSqlite)
    await sqlite.close()

    const database = openPostgres(postgres.url)
    await migrate(database)
    const hotSingle = await singleStatements(postgres.url, database)
    printRow('PostgreSQL, hot account, single statements', hotSingle)
    await measureCharges('PostgreSQL', database, 60_000, hotSingle)
    await database.close()
  } finally {
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measureCharges(name: string, db: Database, count: number, limit: Measured): Promise<void> {
  await migrate(db)
  const credits = openCredits(db, 'bench secret bench secret bench secret')
  const ids: number[] = []
  for (let i = 0; i < accounts; i++) ids.push(await seedAccount(db, i))
  for (const id of ids) await credits.grant({ accountId: id, apiType: 'sms', amount: plenty })
  const charge = (accountId: number) =>
    credits.charge({
      accountId,
      apiType: 'sms',
      action: 'bench',
      cost: 1,
      requestId: 'bench',
      leaseMs: 60_000,
    })

  const hot = await measure(count, inFlight, () => charge(ids[0]!))
  printRow(
    `${name}, service's charge, one hot account`,
    hot,
    `${(hot.perSecond / limit.perSecond).toFixed(2)} × limit`,
  )
  const spread = await measure(count, inFlight, (index) => charge(ids[index % accounts]!))
  printRow(
    `${name}, service's charge, ${accounts} accounts`,
    spread,
    `${(spread.perSecond / limit.perSecond).toFixed(2)} × limit`,
  )
}

async function seedAccount(db: Database, index: number): Promise<number> {
  if (index === 0) return (await createAccount(db, { username: 'bench-0' })).id
  // The password is of no use here, and hashing a thousand of them would be the slowest part of the benchmark.
  return db.write(async (tx) => {
    const row = await tx.one<{ id: number }>(
      `INSERT INTO account (username, role, password_hash, created_at) VALUES (?, 'account', '', 0) RETURNING id`,
      [`bench-${index}`],
    )
    await tx.run(`INSERT INTO credit (account_id, api_type) VALUES (?, 'sms')`, [row!.id])
    return row!.id
  })
}

/** The statements of a charge, as many to a transaction as there are calls in flight, with no service around them. */
async function bareSqliteLoop(file: string): Promise<Measured> {
  const service = openSqlite(file)
  await migrate(service)
  const account = await createAccount(service, { username: 'bench' })
  await service.close()
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec(`UPDATE credit SET total = ${plenty}`)
  const now = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`
  const find = db.prepare(
    `SELECT a.key_hash, c.total, c.used FROM credit c JOIN account a ON a.id = c.account_id
     WHERE c.account_id = ? AND c.api_type = ?`,
  )
  const spend = db.prepare('UPDATE credit SET used = used + ? WHERE account_id = ? AND api_type = ?')
  const open = db.prepare(
    `INSERT INTO operation (account_id, api_type, action, cost, state, lease_until, request_id, created_at)
     VALUES (?, ?, 'bench', ?, 'held', ${now} + 60000, 'bench', ${now}) RETURNING id`,
  )
  const enter = db.prepare(
    `INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, operation_id, at)
     VALUES (?, ?, 'charge', ?, ?, ?, ${now})`,
  )
  const rounds = 1_000
  const measured = await measure(rounds, 1, async () => {
    db.exec('BEGIN IMMEDIATE')
    for (let i = 0; i < inFlight; i++) {
      const row = find.get(account.id, 'sms') as { total: number; used: number }
      spend.run(1, account.id, 'sms')
      const { id } = open.get(account.id, 'sms', 1) as { id: number }
      enter.run(account.id, 'sms', -1, row.total - row.used - 1, id)
    }
    db.exec('COMMIT')
  })
  db.close()
  return { ...measured, perSecond: measured.perSecond * inFlight }
}

/** What pgbench would do: each client takes the row lock, writes, and commits, one charge at a time. */
async function singleStatements(url: string, db: Database): Promise<Measured> {
  const account = await createAccount(db, { username: 'single' })
  const pool = new pg.Pool({ connectionString: url, max: inFlight })
  await pool.query(`UPDATE credit SET total = ${plenty} WHERE account_id = $1`, [account.id])
  const text = `WITH spent AS (
      UPDATE credit SET used = used + 1 WHERE account_id = $1 AND api_type = 'sms' AND used < total
      RETURNING total - used AS left_over
    ), opened AS (
      INSERT INTO operation (account_id, api_type, action, cost, state, lease_until, request_id, created_at)
      SELECT $1, 'sms', 'bench', 1, 'held', 0, 'bench', 0 FROM spent RETURNING id
    )
    INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, operation_id, at)
    SELECT $1, 'sms', 'charge', -1, spent.left_over, opened.id, 0 FROM spent, opened`
  await Promise.all(Array.from({ length: inFlight }, () => pool.query('SELECT 1')))
  const measured = await measure(4_000, inFlight, () =>
    pool.query({ name: 'single', text, values: [account.id] }),
  )
  await pool.end()
  return measured
}
