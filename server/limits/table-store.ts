// Limits counted in two PostgreSQL tables, by the database's clock. Both are unlogged: no commit waits for the disk.
import type { Database, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../db/slices.ts'
import type {
  AttemptKey,
  AttemptResult,
  CountedAttempt,
  DrawRequest,
  DrawResult,
  FailureCount,
  FailureTotal,
  LimitStore,
} from './port.ts'

type BucketRow = Pick<Tables['limit_bucket'], 'account_id' | 'granted' | 'milli_tokens'>

/** Longer than any bucket takes to fill, and short enough that the product fits into a bigint. */
const maxElapsedMs = 10_000_000_000

const inflow = `LEAST(GREATEST(excluded.updated_at - b.updated_at, 0), ${maxElapsedMs}) * excluded.per_second`
const available = `LEAST(excluded.burst * 1000, b.milli_tokens + ${inflow})`
const granted = `LEAST(excluded.requested, ${available} / 1000)`

/** Rows are locked in one order. A statement that waited for a lock carries an older time; the time of a bucket never goes back. */
const drawSql = (now: string) => `INSERT INTO limit_bucket AS b
    (account_id, per_second, burst, requested, updated_at, granted, milli_tokens)
  SELECT w.account_id, w.per_second, w.burst, w.wanted, clock.at, LEAST(w.wanted, w.burst),
    (w.burst - LEAST(w.wanted, w.burst)) * 1000
  FROM unnest(CAST(? AS bigint[]), CAST(? AS bigint[]), CAST(? AS bigint[]), CAST(? AS bigint[]))
    AS w (account_id, per_second, burst, wanted), (SELECT ${now} AS at) AS clock
  ORDER BY w.account_id
  ON CONFLICT (account_id) DO UPDATE SET granted = ${granted}, milli_tokens = ${available} - ${granted} * 1000,
    updated_at = CASE WHEN b.updated_at - excluded.updated_at BETWEEN 0 AND 5000 THEN b.updated_at
      ELSE excluded.updated_at END,
    per_second = excluded.per_second, burst = excluded.burst, requested = excluded.requested
  RETURNING account_id, granted, milli_tokens`

type WindowRow = Pick<Tables['limit_window'], 'key' | 'attempts' | 'started_at'> & { left_ms: number }

const isExpired = 'w.ends_at <= excluded.started_at'

const addSql = (now: string) => `INSERT INTO limit_window AS w (key, attempts, started_at, ends_at)
  SELECT k.key, k.attempts, clock.at, clock.at + CAST(? AS bigint)
  FROM unnest(CAST(? AS text[]), CAST(? AS bigint[])) AS k (key, attempts), (SELECT ${now} AS at) AS clock
  ORDER BY k.key
  ON CONFLICT (key) DO UPDATE SET attempts = excluded.attempts + CASE WHEN ${isExpired} THEN 0 ELSE w.attempts END,
    started_at = CASE WHEN ${isExpired} THEN excluded.started_at ELSE w.started_at END,
    ends_at = CASE WHEN ${isExpired} THEN excluded.ends_at ELSE w.ends_at END
  RETURNING key, attempts, started_at, ends_at - ${now} AS left_ms`

/** Thrown to roll back what the transaction counted. */
class LimitReached extends Error {
  readonly retryAfterMs: number
  readonly key: string

  constructor(retryAfterMs: number, key: string) {
    super('too many attempts')
    this.retryAfterMs = retryAfterMs
    this.key = key
  }
}

export function createTableStore(db: Database): LimitStore {
  // One at a time: concurrent attempts wait for the same rows and would occupy all connections of the pool.
  let last: Promise<unknown> = Promise.resolve()

  function attempt(keys: readonly AttemptKey[], windowMs: number): Promise<AttemptResult> {
    const result = last.then(() => db.write((tx) => countAttempts(tx, keys, windowMs)))
    last = result.catch(() => undefined)
    return result.catch((error: unknown) => {
      if (error instanceof LimitReached) return { retryAfterMs: error.retryAfterMs, key: error.key }
      throw error
    })
  }

  return {
    draw: (requests) => drawTokens(db, requests),
    attempt,
    undo: (counted, resetKey) => db.write((tx) => undoAttempts(tx, counted, resetKey)),
    addFailures: (failures, windowMs) => addFailureCounts(db, failures, windowMs),
    ping: async () => void (await db.one('SELECT 1 AS one FROM limit_bucket LIMIT 1')),
    deleteExpired: () => deleteExpired(db),
    close: () => undefined,
  }
}

/** A single statement is its own transaction and takes one round trip instead of three. */
async function drawTokens(db: Database, requests: readonly DrawRequest[]): Promise<DrawResult[]> {
  const rows = await db.all<BucketRow>(drawSql(db.now), [
    requests.map(({ accountId }) => accountId),
    requests.map(({ limit }) => limit.perSecond),
    requests.map(({ limit }) => limit.burst),
    requests.map(({ wanted }) => wanted),
  ])
  const found = new Map(rows.map((row) => [row.account_id, row]))
  return requests.map(({ accountId }) => {
    const row = found.get(accountId)
    if (!row) throw new Error('bucket row missing')
    return { granted: row.granted, bucketTokens: row.milli_tokens / 1000 }
  })
}

async function countAttempts(tx: Tx, keys: readonly AttemptKey[], windowMs: number): Promise<AttemptResult> {
  const rows = await tx.all<WindowRow>(addSql(tx.now), [
    windowMs,
    keys.map(({ key }) => key),
    keys.map(() => 1),
  ])
  const maximums = new Map(keys.map(({ key, max }) => [key, max]))
  for (const row of rows) {
    if (row.attempts > (maximums.get(row.key) ?? 0)) throw new LimitReached(Math.max(1, row.left_ms), row.key)
  }
  return { counted: rows.map(({ key, attempts, started_at }) => ({ key, attempts, window: started_at })) }
}

async function addFailureCounts(
  db: Database,
  failures: readonly FailureCount[],
  windowMs: number,
): Promise<FailureTotal[]> {
  const rows = await db.all<WindowRow>(addSql(db.now), [
    windowMs,
    failures.map(({ key }) => key),
    failures.map(({ count }) => count),
  ])
  const found = new Map(rows.map((row) => [row.key, row]))
  return failures.map(({ key }) => {
    const row = found.get(key)
    if (!row) throw new Error('window row missing')
    return { failures: row.attempts, expiresInMs: Math.max(1, row.left_ms) }
  })
}

async function undoAttempts(
  tx: Tx,
  counted: readonly CountedAttempt[],
  resetKey: string | undefined,
): Promise<void> {
  const ordered = counted.toSorted((x, y) => (x.key < y.key ? -1 : 1))
  for (const { key, window } of ordered) {
    await tx.run(
      'UPDATE limit_window SET attempts = attempts - 1 WHERE key = ? AND started_at = ? AND attempts > 0',
      [key, window],
    )
  }
  if (resetKey !== undefined) await tx.run('DELETE FROM limit_window WHERE key = ?', [resetKey])
}

/** A full bucket and an expired window have no effect. Rows in use are skipped, so no call waits. */
async function deleteExpired(db: Database): Promise<void> {
  const expired = [
    { table: 'limit_window', key: 'key', where: `ends_at < ${db.now}` },
    { table: 'limit_bucket', key: 'account_id', where: `updated_at + burst * 1000 / per_second < ${db.now}` },
  ]
  for (const { table, key, where } of expired) {
    const sql = `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${where}
      LIMIT ${rowsPerSlice} FOR UPDATE SKIP LOCKED)`
    await writeInSlices(db, async (tx) => (await tx.run(sql)) === rowsPerSlice)
  }
}
