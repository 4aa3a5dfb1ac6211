// One step of carrying old ledger entries over, in one transaction.
import { dayMs } from '../../../contract/time.ts'
import type { ApiType } from '../../../contract/credits.ts'
import type { Queries, Tx } from '../../db/database.ts'
import { carriedAction, carriedNote, type OldEntry, planRuns, type Run } from './compaction-plan.ts'

export interface Chain {
  readonly account_id: number
  readonly api_type: ApiType
}

export interface Step {
  /** Entries that went. */
  readonly gone: number
  /** Whether another step may find more. */
  readonly more: boolean
}

/** How many entries a step looks at: few enough for everyone else to get in between. */
const perStep = 1_000

/** Any number will do, as long as every process asks for the same one. */
const carryLock = 7_402_319

const nothing: Step = { gone: 0, more: false }

/** All balances, page after page: each has a chain of its own. */
export function findChains(queries: Queries, after: Chain | undefined, limit: number): Promise<Chain[]> {
  return queries.all<Chain>(
    `SELECT account_id, api_type FROM credit WHERE (account_id, api_type) > (?, ?)
     ORDER BY account_id, api_type LIMIT ?`,
    [after?.account_id ?? 0, after?.api_type ?? '', limit],
  )
}

export async function carryStep(tx: Tx, chain: Chain, keepDays: number, limit = perStep): Promise<Step> {
  if (!(await takeTurn(tx))) return nothing
  const place = [chain.account_id, chain.api_type]
  const known = await tx.one<{ operation_id: number; next_id: number }>(
    'SELECT operation_id, next_id FROM ledger_compaction WHERE account_id = ? AND api_type = ?',
    place,
  )
  const found = await tx.all<OldEntry & { old: number }>(
    `SELECT l.id, l.kind, l.amount, l.operation_id, o.state, o.cost, o.given_back,
       CASE WHEN l.at < ${tx.now} - CAST(? AS bigint) THEN 1 ELSE 0 END AS old
     FROM ledger l LEFT JOIN operation o ON o.id = l.operation_id
     WHERE l.account_id = ? AND l.api_type = ? AND l.id >= ? ORDER BY l.id LIMIT ?`,
    [keepDays * dayMs, ...place, known?.next_id ?? 0, limit],
  )
  const young = found.findIndex(({ old }) => old === 0)
  const entries = young === -1 ? found : found.slice(0, young)
  if (entries.length === 0) return nothing
  const plan = planRuns(entries, known?.operation_id)
  if (plan.runs.length === 0 && plan.nextId === known?.next_id) return nothing
  // Nothing was ever carried here, and nothing can be: then no place is kept either.
  if (plan.runs.length === 0 && known === undefined) return nothing

  const operationId = known?.operation_id ?? (await insertCarried(tx, chain))
  let gone = 0
  for (const run of plan.runs) gone += await mergeRun(tx, chain, run, operationId)
  await deleteOperations(tx, plan.operations)
  await countCarried(tx, operationId)
  await tx.run(
    `INSERT INTO ledger_compaction (account_id, api_type, operation_id, next_id) VALUES (?, ?, ?, ?)
     ON CONFLICT (account_id, api_type) DO UPDATE SET next_id = excluded.next_id`,
    [...place, operationId, plan.nextId],
  )
  return { gone, more: found.length === limit && young === -1 }
}

/** SQLite's write transaction is the lock. On PostgreSQL a second process steps aside. */
async function takeTurn(tx: Tx): Promise<boolean> {
  if (tx.engine === 'sqlite') return true
  const row = await tx.one<{ mine: boolean }>(`SELECT pg_try_advisory_xact_lock(${carryLock}) AS mine`)
  return row?.mine === true
}

function insertCarried(tx: Tx, { account_id: accountId, api_type: apiType }: Chain): Promise<number> {
  return tx.insert(
    `INSERT INTO operation (account_id, api_type, action, cost, state, request_id, created_at, ended_at)
     VALUES (?, ?, ?, 0, 'settled', '', ${tx.now}, ${tx.now})`,
    [accountId, apiType, carriedAction],
  )
}

/** The last entry takes all of them upon itself, with the balance that stood there. */
async function mergeRun(tx: Tx, chain: Chain, run: Run, operationId: number): Promise<number> {
  await tx.run('UPDATE ledger SET kind = ?, amount = ?, operation_id = ?, note = ? WHERE id = ?', [
    run.net > 0 ? 'refund' : 'charge',
    run.net,
    operationId,
    carriedNote,
    run.lastId,
  ])
  return tx.run('DELETE FROM ledger WHERE account_id = ? AND api_type = ? AND id >= ? AND id < ?', [
    chain.account_id,
    chain.api_type,
    run.firstId,
    run.lastId,
  ])
}

async function deleteOperations(tx: Tx, ids: readonly number[]): Promise<void> {
  if (tx.engine === 'sqlite') {
    await tx.run('DELETE FROM operation WHERE id IN (SELECT value FROM json_each(?))', [JSON.stringify(ids)])
  } else {
    await tx.run('DELETE FROM operation WHERE id = ANY(CAST(? AS bigint[]))', [ids])
  }
}

async function countCarried(tx: Tx, operationId: number): Promise<void> {
  await tx.run(
    `UPDATE operation SET
       cost = (SELECT COALESCE(SUM(-amount), 0) FROM ledger WHERE operation_id = ? AND kind = 'charge'),
       given_back = (SELECT COALESCE(SUM(amount), 0) FROM ledger WHERE operation_id = ? AND kind = 'refund')
     WHERE id = ?`,
    [operationId, operationId, operationId],
  )
}
