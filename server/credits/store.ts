// Balances, grants, and operations that are held. Charges are in charge/, ends in end/.
import { type ApiType, apiTypes } from '../../contract/credits.ts'
import { countRows } from '../db/count-rows.ts'
import type { Queries, SqlStatement, Tx } from '../db/database.ts'
import { orderedUpdate, valueTable } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { lockBalances } from './charge/balances-store.ts'
import { reportLowCredits } from './charge/low-credits-store.ts'
import type { HeldOperation } from './operation.ts'

export type CreditBalance = Readonly<Pick<Tables['credit'], 'api_type' | 'total' | 'used'>> & {
  readonly remaining: number
}

const balanceColumns = 'api_type, total, used, total - used AS remaining'

export async function findBalance(
  queries: Queries,
  accountId: number,
  apiType: ApiType,
): Promise<CreditBalance> {
  const row = await queries.one<CreditBalance>(
    `SELECT ${balanceColumns} FROM credit WHERE account_id = ? AND api_type = ?`,
    [accountId, apiType],
  )
  return row ?? { api_type: apiType, total: 0, used: 0, remaining: 0 }
}

/** Returns all four, in the order of `apiTypes`. */
export async function findBalances(queries: Queries, accountId: number): Promise<CreditBalance[]> {
  const rows = await queries.all<CreditBalance>(`SELECT ${balanceColumns} FROM credit WHERE account_id = ?`, [
    accountId,
  ])
  return apiTypes.map(
    (apiType) =>
      rows.find((row) => row.api_type === apiType) ?? { api_type: apiType, total: 0, used: 0, remaining: 0 },
  )
}

/** Adds credits, or takes unused ones with a negative amount. Undefined when fewer are left. */
export async function addCredits(
  tx: Tx,
  change: {
    accountId: number
    apiType: ApiType
    kind: 'grant' | 'adjust'
    amount: number
    note: string | null
    redeemCodeId?: number
  },
): Promise<CreditBalance | undefined> {
  // Locked before the change, in the order of charges.
  const before = change.amount < 0 ? await lockBalances(tx, [change]) : undefined
  const balance = await tx.one<CreditBalance>(
    `UPDATE credit SET total = total + ? WHERE account_id = ? AND api_type = ? AND total + ? >= used
     RETURNING ${balanceColumns}`,
    [change.amount, change.accountId, change.apiType, change.amount],
  )
  if (!balance) return undefined
  if (change.kind === 'grant') {
    // Low credits are reported again, relative to the new balance.
    await tx.run(
      'UPDATE credit SET alert_base = total - used, alerted_percent = 101 WHERE account_id = ? AND api_type = ?',
      [change.accountId, change.apiType],
    )
  }
  await tx.run(
    `INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, note, redeem_code_id, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ${tx.now})`,
    [
      change.accountId,
      change.apiType,
      change.kind,
      change.amount,
      balance.remaining,
      change.note,
      change.redeemCodeId ?? null,
    ],
  )
  if (before)
    await reportLowCredits(
      tx,
      Array.from(before.values(), (one) => ({ ...one, remaining: balance.remaining })),
    )
  return balance
}

/** An encrypted response for replays. */
export interface NewResponse {
  readonly operationId: number
  readonly response: string
}

export async function storeResponses(tx: Tx, responses: readonly NewResponse[]): Promise<void> {
  const statement = responsesStatement(tx, responses)
  if (statement) await tx.run(...statement)
}

/** Stores the responses. Undefined when there are none. */
export function responsesStatement(
  queries: Queries,
  responses: readonly NewResponse[],
): SqlStatement | undefined {
  if (responses.length === 0) return undefined
  const list = valueTable(
    queries,
    { operation_id: 'bigint', new_response: 'text' },
    responses.map(({ operationId, response }) => ({ operation_id: operationId, new_response: response })),
  )
  return [
    `UPDATE operation SET response = t.new_response FROM ${list.sql} AS t WHERE operation.id = t.operation_id`,
    list.values,
  ]
}

const heldColumns = 'id, account_id, api_type, action, cost'

/** Operations of other actions than `except` whose lease has expired by the database's clock, oldest first. */
export function findOverdue(
  queries: Queries,
  except: readonly string[],
  limit: number,
): Promise<HeldOperation[]> {
  const list = valueTable(
    queries,
    { action: 'text' },
    except.map((action) => ({ action })),
  )
  return queries.all<HeldOperation>(
    `SELECT ${heldColumns} FROM operation WHERE state = 'held' AND lease_until <= ${queries.now}
       AND action NOT IN (SELECT action FROM ${list.sql} AS t)
     ORDER BY lease_until LIMIT ${limit}`,
    list.values,
  )
}

/** Overdue operations of one action, each account's oldest first, and at most `perAccount` of an account. */
export function findOverdueOf(
  queries: Queries,
  action: string,
  { limit, perAccount }: { readonly limit: number; readonly perAccount: number },
): Promise<HeldOperation[]> {
  return queries.all<HeldOperation>(
    `SELECT ${heldColumns} FROM (SELECT ${heldColumns}, lease_until,
         ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY lease_until) AS position
       FROM operation WHERE state = 'held' AND lease_until <= ${queries.now} AND action = ?) overdue
     WHERE position <= ${perAccount} ORDER BY position, lease_until LIMIT ${limit}`,
    [action],
  )
}

export function findHeld(queries: Queries, operationId: number): Promise<HeldOperation | undefined> {
  return queries.one<HeldOperation>(`SELECT ${heldColumns} FROM operation WHERE id = ? AND state = 'held'`, [
    operationId,
  ])
}

/** Starts the leases of operations that were held without one. Returns the ids of those that still are. */
export function startLeases(tx: Tx, ids: readonly number[], leaseMs: number): Promise<Set<number>> {
  return updateLeases(tx, ids, `${tx.now} + CAST(? AS bigint)`, [leaseMs], '+operation.lease_until IS NULL')
}

/** The work waits in a queue again. Returns the ids of the operations that are still held. */
export function stopLeases(tx: Tx, ids: readonly number[]): Promise<Set<number>> {
  return updateLeases(tx, ids, 'NULL', [], '+operation.lease_until IS NOT NULL')
}

/** The plus sign of the condition keeps SQLite from reading all waiting operations by the index on leases. */
async function updateLeases(
  tx: Tx,
  ids: readonly number[],
  lease: string,
  values: readonly number[],
  condition: string,
): Promise<Set<number>> {
  const list = valueTable(
    tx,
    { held_id: 'bigint' },
    ids.map((id) => ({ held_id: id })),
  )
  const update = orderedUpdate(tx, 'operation', { id: 'held_id' }, list)
  const rows = await tx.all<Pick<Tables['operation'], 'id'>>(
    `${update.with} UPDATE operation SET lease_until = ${lease} FROM ${update.from}
     WHERE ${update.where} AND operation.state = 'held' AND ${condition} RETURNING operation.id`,
    [...update.values, ...values],
  )
  return new Set(rows.map(({ id }) => id))
}

/** A clock that was set back leaves leases far in the future: shortens them to the longest lease there is. */
export function shortenLeases(tx: Tx, maxLeaseMs: number): Promise<number> {
  return tx.run(
    `UPDATE operation SET lease_until = ${tx.now} + ${maxLeaseMs} WHERE state = 'held' AND lease_until > ${tx.now} + ${maxLeaseMs}`,
  )
}

export function countHeld(queries: Queries): Promise<number> {
  return countRows(queries, `operation WHERE state = 'held'`)
}
