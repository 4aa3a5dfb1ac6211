// Charges per second on both engines, compared in the same run with the same statements without the service, and with
// pgbench running the statement of one charge.
import { DatabaseSync } from 'node:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { systemActor } from '../server/audit/audit.ts'
import { createAccount } from '../server/accounts/accounts.ts'
import { createCredits } from '../server/credits/credits.ts'
import type { Database } from '../server/db/database.ts'
import { migrate } from '../server/db/migrate.ts'
import { openPostgres } from '../server/db/postgres.ts'
import { openSqlite } from '../server/db/sqlite.ts'
import { isInstalled } from './machine.ts'
import { type Measured, measure } from './measure.ts'
import { chargeStatement, runPgbench } from './pgbench.ts'
import { atLeast, type Part } from './report.ts'
import { engineNames, withPostgres } from './storage.ts'

const inFlight = 64
const manyCredits = 1_000_000_000

export async function chargeBench(part: Part): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  try {
    const bare = await bareSqliteLoop(join(directory, 'bare.db'), part.scale.count(1_000))
    part.row({ name: 'bare loop of the same statements', engine: engineNames.sqlite, ...bare })
    const sqlite = openSqlite(join(directory, 'service.db'))
    await migrate(sqlite)
    await measureCharges(
      part,
      sqlite,
      await seedAccounts(sqlite, part.scale.quick ? 50 : 1_000),
      bare,
      'bare loop',
    )
    await sqlite.close()

    await withPostgres((url) => chargesOnPostgres(part, url))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function chargesOnPostgres(part: Part, url: string): Promise<void> {
  const database = openPostgres(url)
  await migrate(database)
  const ids = await seedAccounts(database, part.scale.quick ? 50 : 1_000)
  const single = await singleStatements(url, database, part.scale.count(4_000))
  part.row({ name: 'single statements, one hot account', engine: engineNames.postgres, ...single })
  const pgbench = await comparePgbench(part, url, ids)
  await measureCharges(part, database, ids, single, 'single statements', pgbench)
  await database.close()
}

/** Returns the result of pgbench on one hot account; undefined where pgbench is not installed. */
async function comparePgbench(
  part: Part,
  url: string,
  ids: readonly number[],
): Promise<Measured | undefined> {
  const engine = engineNames.postgres
  const names = [
    'pgbench, one hot account',
    `pgbench, ${ids.length.toLocaleString('en-US')} accounts`,
  ] as const
  if (!isInstalled('pgbench')) {
    for (const name of names) part.row({ name, engine, skipped: 'pgbench is not installed' })
    return undefined
  }
  const options = { clients: inFlight, seconds: part.scale.seconds * part.scale.rounds }
  const hot = await runPgbench(url, { ...options, first: ids[0]!, last: ids[0]! })
  part.row({ name: names[0], engine, ...hot })
  // The accounts were inserted one after the other, so their ids have no gaps.
  const spread = await runPgbench(url, { ...options, first: ids[0]!, last: ids.at(-1)! })
  part.row({ name: names[1], engine, ...spread })
  return hot
}

async function measureCharges(
  part: Part,
  db: Database,
  ids: readonly number[],
  limit: Measured,
  limitName: string,
  pgbench?: Measured,
): Promise<void> {
  const credits = createCredits(db, 'bench secret bench secret bench secret')
  const count = part.scale.count(60_000)
  const engine = engineNames[db.engine]
  const charge = (accountId: number) =>
    credits.charge({
      accountId,
      apiType: 'sms',
      action: 'bench',
      cost: 1,
      requestId: 'bench',
      leaseMs: 60_000,
    })
  const compared = (measured: Measured) => ({
    engine,
    ...measured,
    ratio: measured.perSecond / limit.perSecond,
    ratioTo: limitName,
  })

  const hot = await measure(count, inFlight, () => charge(ids[0]!))
  const expected =
    db.engine === 'postgres' ? [atLeast(5, hot.perSecond / limit.perSecond, limitName)] : undefined
  if (pgbench) expected?.push(atLeast(5, hot.perSecond / pgbench.perSecond, 'pgbench'))
  part.row({ name: "service's charge, one hot account", ...compared(hot), expected })
  const spread = await measure(count, inFlight, (index) => charge(ids[index % ids.length]!))
  part.row({
    name: `service's charge, ${ids.length.toLocaleString('en-US')} accounts`,
    ...compared(spread),
  })
}

async function seedAccounts(db: Database, accounts: number): Promise<number[]> {
  const credits = createCredits(db, 'bench secret bench secret bench secret')
  const ids: number[] = []
  for (let i = 0; i < accounts; i++) ids.push(await seedAccount(db, i))
  for (const id of ids)
    await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: manyCredits })
  return ids
}

async function seedAccount(db: Database, index: number): Promise<number> {
  if (index === 0) return (await createAccount(db, systemActor, { username: 'bench-0' })).id
  // Without a password: hashing a thousand of them would be the slowest part of the benchmark.
  return db.write(async (tx) => {
    const row = await tx.one<{ id: number }>(
      `INSERT INTO account (username, role, password_hash, created_at) VALUES (?, 'account', '', 0) RETURNING id`,
      [`bench-${index}`],
    )
    await tx.run(`INSERT INTO credit (account_id, api_type) VALUES (?, 'sms')`, [row!.id])
    return row!.id
  })
}

/** The statements of a charge without the service, as many per transaction as there are calls in flight. */
async function bareSqliteLoop(file: string, rounds: number): Promise<Measured> {
  const service = openSqlite(file)
  await migrate(service)
  const account = await createAccount(service, systemActor, { username: 'bench' })
  await service.close()
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec(`UPDATE credit SET total = ${manyCredits}`)
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

/** Each client locks the row, writes and commits one charge at a time. */
async function singleStatements(url: string, db: Database, count: number): Promise<Measured> {
  const account = await createAccount(db, systemActor, { username: 'single' })
  const pool = new pg.Pool({ connectionString: url, max: inFlight })
  await pool.query(`UPDATE credit SET total = ${manyCredits} WHERE account_id = $1`, [account.id])
  const text = chargeStatement('CAST($1 AS bigint)')
  await Promise.all(Array.from({ length: inFlight }, () => pool.query('SELECT 1')))
  const measured = await measure(count, inFlight, () =>
    pool.query({ name: 'single', text, values: [account.id] }),
  )
  await pool.end()
  return measured
}
