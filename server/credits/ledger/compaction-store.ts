// One step of ledger compaction, in one transaction.
import { compactedNote } from '../../../contract/console/credits.ts'
import { dayMs } from '../../../contract/time.ts'
import type { Queries, Tx } from '../../db/database.ts'
import { idList, tryLock } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { compactedAction, type OldEntry, planRuns, type Run } from './compaction-plan.ts'

/** The ledger entries of one balance. */
export type Chain = Readonly<Pick<Tables['credit'], 'account_id' | 'api_type'>>

export interface CompactionStep {
  readonly removed: number
  /** Whether another step may find more. */
  readonly more: boolean
}

/** Small enough that calls run between two steps. */
const entriesPerStep = 1_000

/** Any number, the same in every process. */
const compactionLock = 7_402_319

const nothing: CompactionStep = { removed: 0, more: false }

export function findChains(queries: Queries, after: Chain | undefined, limit: number): Promise<Chain[]> {
  return queries.all<Chain>(
    `SELECT account_id, api_type FROM credit WHERE (account_id, api_type) > (?, ?)
     ORDER BY account_id, api_type LIMIT ?`,
    [after?.account_id ?? 0, after?.api_type ?? '', limit],
  )
}

export async function compactStep(
  tx: Tx,
  chain: Chain,
  keepDays: number,
  limit = entriesPerStep,
): Promise<CompactionStep> {
  if (!(await tryLock(tx, compactionLock))) return nothing
  const balance = [chain.account_id, chain.api_type]
  const known = await tx.one<Pick<Tables['ledger_compaction'], 'operation_id' | 'next_id'>>(
    'SELECT operation_id, next_id FROM ledger_compaction WHERE account_id = ? AND api_type = ?',
    balance,
  )
  const found = await tx.all<OldEntry & { old: number }>(
    `SELECT l.id, l.kind, l.amount, l.operation_id, o.state, o.cost, o.given_back,
       CASE WHEN l.at < ${tx.now} - CAST(? AS bigint) THEN 1 ELSE 0 END AS old
     FROM ledger l LEFT JOIN operation o ON o.id = l.operation_id
     WHERE l.account_id = ? AND l.api_type = ? AND l.id >= ? ORDER BY l.id LIMIT ?`,
    [keepDays * dayMs, ...balance, known?.next_id ?? 0, limit],
  )
  const firstYoung = found.findIndex(({ old }) => old === 0)
  const entries = firstYoung === -1 ? found : found.slice(0, firstYoung)
  if (entries.length === 0) return nothing
  const plan = planRuns(entries, known?.operation_id)
  // With nothing to merge, a chain that was never compacted needs no row.
  if (plan.runs.length === 0 && (known === undefined || plan.nextId === known.next_id)) return nothing

  const operationId = known?.operation_id ?? (await insertCompactedOperation(tx, chain))
  let removed = 0
  for (const run of plan.runs) removed += await mergeRun(tx, chain, run, operationId)
  const operations = idList(tx, plan.operations)
  await tx.run(`DELETE FROM operation WHERE id IN ${operations.sql}`, [operations.value])
  await updateSums(tx, operationId)
  await tx.run(
    `INSERT INTO ledger_compaction (account_id, api_type, operation_id, next_id) VALUES (?, ?, ?, ?)
     ON CONFLICT (account_id, api_type) DO UPDATE SET next_id = excluded.next_id`,
    [...balance, operationId, plan.nextId],
  )
  return { removed, more: found.length === limit && firstYoung === -1 }
}

function insertCompactedOperation(tx: Tx, chain: Chain): Promise<number> {
  return tx.insert(
    `INSERT INTO operation (account_id, api_type, action, cost, state, request_id, created_at, ended_at)
     VALUES (?, ?, ?, 0, 'settled', '', ${tx.now}, ${tx.now})`,
    [chain.account_id, chain.api_type, compactedAction],
  )
}

/** The last entry gets the net amount and keeps its balance; the others are deleted. Returns how many. */
async function mergeRun(tx: Tx, chain: Chain, run: Run, operationId: number): Promise<number> {
  await tx.run('UPDATE ledger SET kind = ?, amount = ?, operation_id = ?, note = ? WHERE id = ?', [
    run.net > 0 ? 'refund' : 'charge',
    run.net,
    operationId,
    compactedNote,
    run.lastId,
  ])
  return tx.run('DELETE FROM ledger WHERE account_id = ? AND api_type = ? AND id >= ? AND id < ?', [
    chain.account_id,
    chain.api_type,
    run.firstId,
    run.lastId,
  ])
}

async function updateSums(tx: Tx, operationId: number): Promise<void> {
  await tx.run(
    `UPDATE operation SET
       cost = (SELECT COALESCE(SUM(-amount), 0) FROM ledger WHERE operation_id = ? AND kind = 'charge'),
       given_back = (SELECT COALESCE(SUM(amount), 0) FROM ledger WHERE operation_id = ? AND kind = 'refund')
     WHERE id = ?`,
    [operationId, operationId, operationId],
  )
}
