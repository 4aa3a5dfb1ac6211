// Limits counted in two tables of PostgreSQL, by its clock. Both are unlogged: no disk is waited for.
import type { Database, Tx } from '../db/database.ts'
import type { Begun, Counted, Drawn, Failed, Failures, LimitStore, TryKey, Wish } from './port.ts'

interface BucketRow {
  readonly account_id: number
  readonly granted: number
  readonly milli: number
}

/** Longer than any bucket takes to fill, and short enough that the product stays a whole number of 64 bits. */
const longestMs = 10_000_000_000

const inflow = `LEAST(GREATEST(excluded.at - b.at, 0), ${longestMs}) * excluded.per_second`
const available = `LEAST(excluded.burst * 1000, b.milli + ${inflow})`
const granted = `LEAST(excluded.wanted, ${available} / 1000)`

/** The rows are locked in one order. Who had to wait for a lock comes with an older moment: time does not go back for that. */
const drawSql = (now: string) => `INSERT INTO limit_bucket AS b
    (account_id, per_second, burst, wanted, at, granted, milli)
  SELECT w.account_id, w.per_second, w.burst, w.wanted, moment.at, LEAST(w.wanted, w.burst),
    (w.burst - LEAST(w.wanted, w.burst)) * 1000
  FROM unnest(CAST(? AS bigint[]), CAST(? AS bigint[]), CAST(? AS bigint[]), CAST(? AS bigint[]))
    AS w (account_id, per_second, burst, wanted), (SELECT ${now} AS at) AS moment
  ORDER BY w.account_id
  ON CONFLICT (account_id) DO UPDATE SET granted = ${granted}, milli = ${available} - ${granted} * 1000,
    at = CASE WHEN b.at - excluded.at BETWEEN 0 AND 5000 THEN b.at ELSE excluded.at END,
    per_second = excluded.per_second, burst = excluded.burst, wanted = excluded.wanted
  RETURNING account_id, granted, milli`

interface WindowRow {
  readonly key: string
  readonly tries: number
  readonly started_at: number
  readonly left_ms: number
}

const isOver = 'w.ends_at <= excluded.started_at'

const addSql = (now: string) => `INSERT INTO limit_window AS w (key, tries, started_at, ends_at)
  SELECT k.key, k.tries, moment.at, moment.at + CAST(? AS bigint)
  FROM unnest(CAST(? AS text[]), CAST(? AS bigint[])) AS k (key, tries), (SELECT ${now} AS at) AS moment
  ORDER BY k.key
  ON CONFLICT (key) DO UPDATE SET tries = excluded.tries + CASE WHEN ${isOver} THEN 0 ELSE w.tries END,
    started_at = CASE WHEN ${isOver} THEN excluded.started_at ELSE w.started_at END,
    ends_at = CASE WHEN ${isOver} THEN excluded.ends_at ELSE w.ends_at END
  RETURNING key, tries, started_at, ends_at - ${now} AS left_ms`

/** Undoes what the transaction has counted. */
class Refused extends Error {
  readonly ms: number

  constructor(ms: number) {
    super('too many tries')
    this.ms = ms
  }
}

export function tableStore(db: Database): LimitStore {
  // One after the other: those who guess at the same moment wait for the same rows, and would take all connections to do so.
  let last: Promise<unknown> = Promise.resolve()

  function begin(keys: readonly TryKey[], windowMs: number): Promise<Begun> {
    const begun = last.then(() => db.write((tx) => countTries(tx, keys, windowMs)))
    last = begun.catch(() => undefined)
    return begun.catch((error: unknown) => {
      if (error instanceof Refused) return { refusedMs: error.ms }
      throw error
    })
  }

  return {
    draw: (wishes) => drawTokens(db, wishes),
    begin,
    takeBack: (counted, forgive) => db.write((tx) => takeBackTries(tx, counted, forgive)),
    add: (failures, windowMs) => addFailures(db, failures, windowMs),
    ping: async () => void (await db.one('SELECT 1 AS one FROM limit_bucket LIMIT 1')),
    tidy: () => db.write(deleteOld),
    close: () => undefined,
  }
}

/** One statement is a transaction of its own, and takes one way to the server and back instead of three. */
async function drawTokens(db: Database, wishes: readonly Wish[]): Promise<Drawn[]> {
  const rows = await db.all<BucketRow>(drawSql(db.now), [
    wishes.map(({ accountId }) => accountId),
    wishes.map(({ limit }) => limit.perSecond),
    wishes.map(({ limit }) => limit.burst),
    wishes.map(({ wanted }) => wanted),
  ])
  const found = new Map(rows.map((row) => [row.account_id, row]))
  return wishes.map(({ accountId }) => {
    const row = found.get(accountId)
    if (!row) throw new Error('a bucket is missing')
    return { granted: row.granted, left: row.milli / 1000 }
  })
}

async function countTries(tx: Tx, keys: readonly TryKey[], windowMs: number): Promise<Begun> {
  const rows = await tx.all<WindowRow>(addSql(tx.now), [
    windowMs,
    keys.map(({ key }) => key),
    keys.map(() => 1),
  ])
  const most = new Map(keys.map((one) => [one.key, one.most]))
  for (const row of rows) {
    if (row.tries > (most.get(row.key) ?? 0)) throw new Refused(Math.max(1, row.left_ms))
  }
  return { counted: rows.map(({ key, tries, started_at }) => ({ key, tries, window: started_at })) }
}

async function addFailures(db: Database, failures: readonly Failures[], windowMs: number): Promise<Failed[]> {
  const rows = await db.all<WindowRow>(addSql(db.now), [
    windowMs,
    failures.map(({ key }) => key),
    failures.map(({ count }) => count),
  ])
  const found = new Map(rows.map((row) => [row.key, row]))
  return failures.map(({ key }) => {
    const row = found.get(key)
    if (!row) throw new Error('a window is missing')
    return { tries: row.tries, leftMs: Math.max(1, row.left_ms) }
  })
}

async function takeBackTries(
  tx: Tx,
  counted: readonly Counted[],
  forgive: string | undefined,
): Promise<void> {
  const ordered = counted.toSorted((x, y) => (x.key < y.key ? -1 : 1))
  for (const { key, window } of ordered) {
    await tx.run('UPDATE limit_window SET tries = tries - 1 WHERE key = ? AND started_at = ? AND tries > 0', [
      key,
      window,
    ])
  }
  if (forgive !== undefined) await tx.run('DELETE FROM limit_window WHERE key = ?', [forgive])
}

/** A full bucket and a window that has ended say nothing. */
async function deleteOld(tx: Tx): Promise<void> {
  await tx.run(`DELETE FROM limit_window WHERE ends_at < ${tx.now}`)
  await tx.run(`DELETE FROM limit_bucket WHERE at + burst * 1000 / per_second < ${tx.now}`)
}
