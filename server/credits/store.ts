// Balances, grants, and the end of operations. Charges are in charge-store.ts.
import { type ApiType, apiTypes } from '../../contract/credits.ts'
import type { Queries, Tx } from '../db/database.ts'
import type { EndRequest, EndResult, OpenOperation, StoredAnswer } from './operation.ts'
import type { AnswerSeal } from './charge/sealed-answer.ts'

export interface Balance {
  readonly api_type: ApiType
  readonly total: number
  readonly used: number
  readonly remaining: number
}

const balanceColumns = 'api_type, total, used, total - used AS remaining'

export async function findBalance(queries: Queries, accountId: number, apiType: ApiType): Promise<Balance> {
  const row = await queries.one<Balance>(
    `SELECT ${balanceColumns} FROM credit WHERE account_id = ? AND api_type = ?`,
    [accountId, apiType],
  )
  return row ?? { api_type: apiType, total: 0, used: 0, remaining: 0 }
}

/** All four, in the order in which they are named everywhere. */
export async function findBalances(queries: Queries, accountId: number): Promise<Balance[]> {
  const rows = await queries.all<Balance>(`SELECT ${balanceColumns} FROM credit WHERE account_id = ?`, [
    accountId,
  ])
  return apiTypes.map(
    (apiType) =>
      rows.find((row) => row.api_type === apiType) ?? { api_type: apiType, total: 0, used: 0, remaining: 0 },
  )
}

/**
 * Adds credits, or takes unused ones away with a negative amount. Undefined when more would be taken than is left.
 */
export async function addCredits(
  tx: Tx,
  change: {
    accountId: number
    apiType: ApiType
    kind: 'grant' | 'adjust'
    amount: number
    note: string | null
  },
): Promise<Balance | undefined> {
  const balance = await tx.one<Balance>(
    `UPDATE credit SET total = total + ? WHERE account_id = ? AND api_type = ? AND total + ? >= used
     RETURNING ${balanceColumns}`,
    [change.amount, change.accountId, change.apiType, change.amount],
  )
  if (!balance) return undefined
  await tx.run(
    `INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, note, at)
     VALUES (?, ?, ?, ?, ?, ?, ${tx.now})`,
    [change.accountId, change.apiType, change.kind, change.amount, balance.remaining, change.note],
  )
  return balance
}

interface EndedRow {
  readonly account_id: number
  readonly api_type: ApiType
  readonly cost: number
}

/** Decides an open operation, once: whoever comes second changes nothing and is told so. */
export async function endOperation(tx: Tx, request: EndRequest, seal: AnswerSeal): Promise<EndResult> {
  const { end } = request
  const partly = end.state === 'settled' ? (end.giveBack ?? 0) : 0
  const row = await tx.one<EndedRow>(
    `UPDATE operation SET state = ?, given_back = CASE WHEN ? = 1 THEN cost ELSE CAST(? AS bigint) END,
       response = COALESCE(?, response), sends = sends + ?, ended_at = ${tx.now}
     WHERE id = ? AND state = 'held' RETURNING account_id, api_type, cost`,
    [
      end.state,
      end.state === 'refunded' ? 1 : 0,
      partly,
      request.answer && typeof request.answer !== 'function' ? seal.seal(request.answer) : null,
      request.sends ?? 0,
      request.operationId,
    ],
  )
  if (!row) return { ended: false, givenBack: 0, remaining: undefined }
  const givenBack = end.state === 'refunded' ? row.cost : partly
  const remaining = givenBack === 0 ? undefined : await giveBack(tx, request.operationId, row, givenBack)
  if (typeof request.answer === 'function') {
    await tx.run('UPDATE operation SET response = ? WHERE id = ?', [
      seal.seal(request.answer(remaining)),
      request.operationId,
    ])
  }
  return { ended: true, givenBack, remaining }
}

/** Tells the balance afterwards. */
async function giveBack(tx: Tx, operationId: number, row: EndedRow, amount: number): Promise<number> {
  const balance = await tx.one<{ remaining: number }>(
    'UPDATE credit SET used = used - ? WHERE account_id = ? AND api_type = ? RETURNING total - used AS remaining',
    [amount, row.account_id, row.api_type],
  )
  if (!balance) throw new Error(`operation ${operationId} has no balance`)
  await tx.run(
    `INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, operation_id, at)
     VALUES (?, ?, 'refund', ?, ?, ?, ${tx.now})`,
    [row.account_id, row.api_type, amount, balance.remaining, operationId],
  )
  return balance.remaining
}

/** Keeps an ambiguous operation open for longer, with the answer its caller got meanwhile. False when it was decided already. */
export async function holdOperation(
  tx: Tx,
  hold: { operationId: number; leaseMs: number; answer?: StoredAnswer; sends?: number },
  seal: AnswerSeal,
): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE operation SET lease_until = ${tx.now} + CAST(? AS bigint), response = COALESCE(?, response), sends = sends + ?
     WHERE id = ? AND state = 'held'`,
    [hold.leaseMs, hold.answer ? seal.seal(hold.answer) : null, hold.sends ?? 0, hold.operationId],
  )
  return changed === 1
}

const openColumns = 'id, account_id, api_type, action, cost, lease_until'

/** Operations whose lease is over by the database's clock, the oldest first. */
export function findOverdue(queries: Queries, limit: number): Promise<OpenOperation[]> {
  return queries.all<OpenOperation>(
    `SELECT ${openColumns} FROM operation WHERE state = 'held' AND lease_until <= ${queries.now}
     ORDER BY lease_until LIMIT ${limit}`,
  )
}

export function findOpen(queries: Queries, operationId: number): Promise<OpenOperation | undefined> {
  return queries.one<OpenOperation>(`SELECT ${openColumns} FROM operation WHERE id = ? AND state = 'held'`, [
    operationId,
  ])
}

/**
 * A clock that was set back leaves leases far in the future. No lease is longer than `longestMs`, so what lies beyond
 * that is shortened to it.
 */
export function shortenLeases(tx: Tx, longestMs: number): Promise<number> {
  return tx.run(
    `UPDATE operation SET lease_until = ${tx.now} + ${longestMs} WHERE state = 'held' AND lease_until > ${tx.now} + ${longestMs}`,
  )
}

export async function countOpen(queries: Queries): Promise<number> {
  const row = await queries.one<{ count: number }>(
    `SELECT COUNT(*) AS count FROM operation WHERE state = 'held'`,
  )
  return row?.count ?? 0
}
