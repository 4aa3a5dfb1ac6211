// Checks from the console: their items, progress and results.
import type { Database, Queries, Tx } from '../db/database.ts'
import { deleteByTime } from '../db/time-ordered.ts'
import type { Tables } from '../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../db/slices.ts'
import { keyLifetimeMs } from '../credits/operation.ts'

export type RunRow = Pick<
  Tables['domain_run'],
  'id' | 'at' | 'total' | 'done' | 'finished' | 'counts' | 'fingerprint'
> &
  Pick<Tables['operation'], 'cost' | 'given_back' | 'state' | 'request_id'>

export type RunRowWithResults = RunRow & Pick<Tables['domain_run'], 'items' | 'results'>

const select = `SELECT r.id, r.at, r.total, r.done, r.finished, r.counts, r.fingerprint, o.cost, o.given_back, o.state,
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

/** Undefined when a run with this Idempotency-Key exists. */
export async function insertRun(tx: Tx, run: NewRun): Promise<number | undefined> {
  if (run.idempotencyKey !== undefined) {
    await tx.run(
      `UPDATE domain_run SET idempotency_key = NULL WHERE account_id = ? AND idempotency_key = ? AND ${isKeyExpired(tx)}`,
      [run.accountId, run.idempotencyKey],
    )
  }
  const row = await tx.one<Pick<RunRow, 'id'>>(
    `INSERT INTO domain_run (account_id, operation_id, idempotency_key, fingerprint, at, total, done, items, results, counts)
     VALUES (?, ?, ?, ?, ${tx.now}, ?, 0, ?, '[]', '{}') ON CONFLICT DO NOTHING RETURNING id`,
    [run.accountId, run.operationId, run.idempotencyKey ?? null, run.fingerprint, run.total, run.items],
  )
  return row?.id
}

export type RunProgress = Pick<Tables['domain_run'], 'done' | 'results' | 'counts'>

/** Does not change a finished run. */
export async function updateRun(
  tx: Tx,
  id: number,
  { done, results, counts, isFinished }: RunProgress & { readonly isFinished: boolean },
): Promise<void> {
  await tx.run(
    'UPDATE domain_run SET done = ?, results = ?, counts = ?, finished = ? WHERE id = ? AND finished = 0',
    [done, results, counts, isFinished ? 1 : 0, id],
  )
}

function isKeyExpired({ now }: Queries): string {
  return `at <= ${now} - ${keyLifetimeMs}`
}

/** The run with this key, if the key has not expired. */
export function findRunByKey(queries: Queries, accountId: number, key: string): Promise<RunRow | undefined> {
  return queries.one<RunRow>(
    `${select} ${from} WHERE r.account_id = ? AND r.idempotency_key = ? AND NOT r.${isKeyExpired(queries)}`,
    [accountId, key],
  )
}

export function pruneRunKeys(db: Database, signal?: AbortSignal): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const pruned = await tx.run(
        `UPDATE domain_run SET idempotency_key = NULL WHERE id IN (SELECT id FROM domain_run
           WHERE idempotency_key IS NOT NULL AND ${isKeyExpired(tx)} LIMIT ${rowsPerSlice})`,
      )
      return pruned === rowsPerSlice
    },
    signal,
  )
}

export function findRun(
  queries: Queries,
  accountId: number,
  id: number,
): Promise<RunRowWithResults | undefined> {
  return queries.one<RunRowWithResults>(
    `${select}, r.items, r.results ${from} WHERE r.account_id = ? AND r.id = ?`,
    [accountId, id],
  )
}

export interface RunFilter {
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly before?: number | undefined
}

/** Newest first. */
export function findRuns(
  queries: Queries,
  accountId: number,
  { before = Number.MAX_SAFE_INTEGER, start = 0, end = Number.MAX_SAFE_INTEGER }: RunFilter,
  limit: number,
): Promise<RunRow[]> {
  return queries.all<RunRow>(
    `${select} ${from} WHERE r.account_id = ? AND r.id < ? AND r.at >= ? AND r.at < ? ORDER BY r.id DESC LIMIT ?`,
    [accountId, before, start, end, limit],
  )
}

export function deleteOldRuns(db: Database, days: number, signal: AbortSignal): Promise<number> {
  return deleteByTime(db, 'domain_run', days, signal)
}
