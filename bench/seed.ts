// Inserts many links quickly. The code of link n is computed from n, in TypeScript and in SQL.
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { alphabet, codeLength } from '../server/shortlink/codes/code.ts'
import { createCodes } from '../server/shortlink/codes/store.ts'
import type { BenchStorage } from './storage.ts'

const size = alphabet.length
const codes = size ** codeLength

/** Coprime to the number of codes, so that no code repeats; large, so that consecutive codes are far apart. */
const step = 120_000_000_007

const perStatement = 500_000

const keySql = `SELECT value FROM setting WHERE name = 'link_code_key'`

export function pathAt(n: number): string {
  let rest = (BigInt(n) * BigInt(step)) % BigInt(codes)
  let code = ''
  while (code.length < codeLength) {
    code += alphabet[Number(rest % BigInt(size))]
    rest /= BigInt(size)
  }
  return `/${code}`
}

export function targetAt(n: number): string {
  return `https://example.com/landing/${n}?from=bench`
}

export interface SeedRunner {
  run(sql: string): Promise<void>
  /** The first column of the first row; zero without rows. */
  number(sql: string): Promise<number>
  /** Inserts the codes of the links above this id into the index, except those that already exist. */
  indexCodes(aboveId: number): Promise<void>
  /** `isChanged`: statistics of the tables are collected. */
  end(isChanged: boolean): Promise<void>
}

/** Inserts links `from` to `to`; the first number is 1. No service may have the database open. */
export async function seedLinks(storage: BenchStorage, from: number, to: number): Promise<void> {
  const runner = await openSeedRunner(storage, 'OFF')
  for (let first = from; first <= to; first += perStatement) {
    const before = await runner.number('SELECT MAX(id) FROM link')
    await runner.run(linksSql(storage, first, Math.min(to, first + perStatement - 1)))
    await runner.indexCodes(before)
  }
  await runner.end(true)
}

/** With the journal a run that is killed leaves a file that can be used. SQLite only. */
export async function openSeedRunner(storage: BenchStorage, journal: 'OFF' | 'WAL'): Promise<SeedRunner> {
  return storage.file === undefined ? postgresRunner(storage) : sqliteRunner(storage.file, journal)
}

export function linksSql({ engine, payer }: BenchStorage, first: number, last: number, at = 0): string {
  const letters: string[] = []
  for (let place = 0; place < codeLength; place += 1) {
    letters.push(`substr('${alphabet}', CAST((x / ${size ** place}) % ${size} AS integer) + 1, 1)`)
  }
  const numbers =
    engine === 'sqlite'
      ? `(WITH RECURSIVE s (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM s WHERE n < ${last}) SELECT n FROM s)`
      : `generate_series(CAST(${first} AS bigint), ${last}) AS numbers (n)`
  return `INSERT INTO link (account_id, code, title, target_url, redirect_url_a, redirect_type, location_a, location_b,
      host_a, host_b, created_at, updated_at)
    SELECT ${payer.id}, ${letters.join(' || ')}, 'link ' || n, target, '', 'direct', target, target, '', '', ${at}, ${at}
    FROM (SELECT n, (n * ${step}) % ${codes} AS x, 'https://example.com/landing/' || n || '?from=bench' AS target
      FROM ${numbers}) AS links`
}

/** The file is of no use after a power failure, so nothing is synchronized while it is filled. */
function sqliteRunner(file: string, journal: 'OFF' | 'WAL'): SeedRunner {
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = ${journal}; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144`)
  const { value } = db.prepare(keySql).get() as { value: string }
  const { positionOf } = createCodes(Buffer.from(value, 'hex'))
  db.function('position_of', { deterministic: true }, (code) => positionOf(String(code))!)
  return {
    run: async (sql) => db.exec(sql),
    number: async (sql) => Number(Object.values(db.prepare(sql).get() ?? {})[0] ?? 0),
    // In the order of the tree: random positions in one that does not fit into the cache take most of the time.
    async indexCodes(aboveId) {
      db.exec(`INSERT INTO link_code (position, link_id)
        SELECT position_of(code) AS position, id FROM link WHERE id > ${aboveId} ORDER BY position ON CONFLICT (position) DO NOTHING`)
    },
    async end() {
      db.exec('PRAGMA journal_mode = WAL')
      db.close()
    },
  }
}

async function postgresRunner(storage: BenchStorage): Promise<SeedRunner> {
  const client = new pg.Client({ connectionString: storage.url })
  await client.connect()
  await client.query('SET synchronous_commit = off')
  const key = await client.query<{ value: string }>(keySql)
  const { positionOf } = createCodes(Buffer.from(key.rows[0]!.value, 'hex'))
  return {
    run: async (sql) => void (await client.query(sql)),
    async number(sql) {
      const found = await client.query<Record<string, string | null>>(sql)
      return Number(Object.values(found.rows[0] ?? {})[0] ?? 0)
    },
    async indexCodes(aboveId) {
      const links = await client.query<{ id: string; code: string }>(
        'SELECT id, code FROM link WHERE id > $1',
        [aboveId],
      )
      await client.query(
        `INSERT INTO link_code (position, link_id) SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS t (position, id)
         ORDER BY position ON CONFLICT (position) DO NOTHING`,
        [links.rows.map(({ code }) => positionOf(code)!), links.rows.map(({ id }) => id)],
      )
    },
    async end(isChanged) {
      if (isChanged) await client.query('VACUUM ANALYZE')
      await client.end()
    },
  }
}
