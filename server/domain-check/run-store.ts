// Checks by hand as they are kept: what was asked, how far it has come, and what came out.
import { dayMs } from '../../contract/time.ts'
import type { Queries, Tx, Value } from '../db/database.ts'

export interface RunRow {
  readonly id: number
  readonly at: number
  readonly total: number
  readonly done: number
  readonly finished: number
  /** JSON object of result and number. */
  readonly counts: string
  readonly fingerprint: string
  readonly cost: number
  readonly given_back: number
  readonly state: 'held' | 'settled' | 'refunded'
  readonly request_id: string
}

export interface WholeRunRow extends RunRow {
  /** JSON list of addresses. */
  readonly items: string
  /** JSON list of results, null where there is none yet. */
  readonly results: string
}

const select = `r.id, r.at, r.total, r.done, r.finished, r.counts, r.fingerprint, o.cost, o.given_back, o.state,
  o.request_id`
const from = 'FROM domain_run r JOIN operation o ON o.id = r.operation_id'

export interface NewRun {
  readonly accountId: number
  readonly operationId: number
  readonly idempotencyKey: string | undefined
  readonly fingerprint: string
  readonly total: number
  readonly items: string
}

/** Undefined when the same Idempotency-Key has begun one meanwhile. */
export async function insertRun(tx: Tx, run: NewRun): Promise<number | undefined> {
  const row = await tx.one<{ id: number }>(
    `INSERT INTO domain_run (account_id, operation_id, idempotency_key, fingerprint, at, total, done, items, results, counts)
     VALUES (?, ?, ?, ?, ${tx.now}, ?, 0, ?, '[]', '{}') ON CONFLICT DO NOTHING RETURNING id`,
    [run.accountId, run.operationId, run.idempotencyKey ?? null, run.fingerprint, run.total, run.items],
  )
  return row?.id
}

export interface RunProgress {
  readonly done: number
  readonly results: string
  readonly counts: string
}

/** What is finished stays as it is. */
export async function updateRun(
  tx: Tx,
  id: number,
  { done, results, counts }: RunProgress,
  isFinished: boolean,
): Promise<void> {
  await tx.run(
    'UPDATE domain_run SET done = ?, results = ?, counts = ?, finished = ? WHERE id = ? AND finished = 0',
    [done, results, counts, isFinished ? 1 : 0, id],
  )
}

export function findRunByKey(queries: Queries, accountId: number, key: string): Promise<RunRow | undefined> {
  return queries.one<RunRow>(`SELECT ${select} ${from} WHERE r.account_id = ? AND r.idempotency_key = ?`, [
    accountId,
    key,
  ])
}

export function findRun(queries: Queries, accountId: number, id: number): Promise<WholeRunRow | undefined> {
  return queries.one<WholeRunRow>(
    `SELECT ${select}, r.items, r.results ${from} WHERE r.account_id = ? AND r.id = ?`,
    [accountId, id],
  )
}

export interface RunSearch {
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly before?: number | undefined
}

/** The newest first. */
export function findRuns(
  queries: Queries,
  accountId: number,
  search: RunSearch,
  limit: number,
): Promise<RunRow[]> {
  const values: Value[] = [
    accountId,
    search.before ?? Number.MAX_SAFE_INTEGER,
    search.start ?? 0,
    search.end ?? Number.MAX_SAFE_INTEGER,
    limit,
  ]
  return queries.all<RunRow>(
    `SELECT ${select} ${from} WHERE r.account_id = ? AND r.id < ? AND r.at >= ? AND r.at < ?
     ORDER BY r.id DESC LIMIT ?`,
    values,
  )
}

export function deleteOldRuns(tx: Tx, days: number, limit: number): Promise<number> {
  return tx.run(
    `DELETE FROM domain_run WHERE id IN (
       SELECT id FROM domain_run WHERE at < ${tx.now} - CAST(? AS bigint) ORDER BY at LIMIT ?)`,
    [days * dayMs, limit],
  )
}
