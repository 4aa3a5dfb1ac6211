// Writes the rows of accepted charges: balances, operations and ledger entries.
import { bulkInsert, insertRows, insertRowsReturningIds } from '../../db/bulk-insert.ts'
import type { Tx } from '../../db/database.ts'
import { byEngine, unnest } from '../../db/dialect.ts'
import type { LockedBalance } from './balances-store.ts'
import type { ChargeRequest } from '../operation.ts'

export interface AcceptedCharge {
  readonly request: ChargeRequest<unknown>
  /** The credits after this charge. */
  readonly remaining: number
  /** With the usage of all charges of the batch. */
  readonly balance: Readonly<LockedBalance>
}

/** Returns the operation ids in the order of the charges. */
export async function insertCharges(tx: Tx, charges: readonly AcceptedCharge[]): Promise<number[]> {
  if (charges.length === 0) return []
  return byEngine(tx, { sqlite: insertWithFewStatements, postgres: insertWithOneStatement })(tx, charges)
}

export function stateOf({ leaseMs, waits }: ChargeRequest<unknown>): 'settled' | 'held' {
  return leaseMs === undefined && waits !== true ? 'settled' : 'held'
}

const operationRows = bulkInsert('operation', {
  account_id: 'bigint',
  api_type: 'text',
  action: 'text',
  cost: 'bigint',
  state: 'text',
  idempotency_key: 'text',
  fingerprint: 'text',
  lease_until: 'bigint',
  request_id: 'text',
  created_at: 'bigint',
  ended_at: 'bigint',
})

export const ledgerRows = bulkInsert('ledger', {
  account_id: 'bigint',
  api_type: 'text',
  kind: 'text',
  amount: 'bigint',
  balance_after: 'bigint',
  operation_id: 'bigint',
  at: 'bigint',
})

/** SQLite only. */
export async function chargeBalance(tx: Tx, balance: Readonly<LockedBalance>, cost: number): Promise<void> {
  await tx.run(
    `UPDATE credit SET used = used + ?, usage_day = ?, used_on_day = ?, used_in_month = ?
     WHERE account_id = ? AND api_type = ?`,
    [
      cost,
      balance.usage_day,
      balance.used_on_day,
      balance.used_in_month,
      balance.account_id,
      balance.api_type,
    ],
  )
}

async function insertWithFewStatements(tx: Tx, charges: readonly AcceptedCharge[]): Promise<number[]> {
  const costs = new Map<Readonly<LockedBalance>, number>()
  for (const { balance, request } of charges) costs.set(balance, (costs.get(balance) ?? 0) + request.cost)
  for (const [balance, cost] of costs) await chargeBalance(tx, balance, cost)
  const ids = await insertRowsReturningIds(
    tx,
    operationRows,
    charges.map(({ request, balance: { at } }) => ({
      account_id: request.accountId,
      api_type: request.apiType,
      action: request.action,
      cost: request.cost,
      state: stateOf(request),
      idempotency_key: request.idempotency?.key ?? null,
      fingerprint: request.idempotency?.fingerprint ?? null,
      lease_until: request.leaseMs === undefined ? null : at + request.leaseMs,
      request_id: request.requestId,
      created_at: at,
      ended_at: stateOf(request) === 'settled' ? at : null,
    })),
  )
  await insertRows(
    tx,
    ledgerRows,
    charges.map(({ request, remaining, balance: { at } }, index) => ({
      account_id: request.accountId,
      api_type: request.apiType,
      kind: 'charge',
      amount: -request.cost,
      balance_after: remaining,
      operation_id: ids[index]!,
      at,
    })),
  )
  return ids
}

const chargeColumns = {
  position: 'bigint',
  account_id: 'bigint',
  api_type: 'text',
  action: 'text',
  cost: 'bigint',
  idempotency_key: 'text',
  fingerprint: 'text',
  state: 'text',
  lease_ms: 'bigint',
  request_id: 'text',
  balance: 'bigint',
  at: 'bigint',
  usage_day: 'text',
  used_on_day: 'bigint',
  used_in_month: 'bigint',
} as const

/** The next operation id. PostgreSQL only. */
export const nextOperation = `nextval('operation_id_seq')`

/** One round trip: while the balances are locked, every further one delays the next batch of the same account. */
async function insertWithOneStatement(tx: Tx, charges: readonly AcceptedCharge[]): Promise<number[]> {
  const list = unnest(
    chargeColumns,
    charges.map(({ request, remaining, balance }, position) => ({
      position,
      account_id: request.accountId,
      api_type: request.apiType,
      action: request.action,
      cost: request.cost,
      idempotency_key: request.idempotency?.key ?? null,
      fingerprint: request.idempotency?.fingerprint ?? null,
      state: stateOf(request),
      lease_ms: request.leaseMs ?? null,
      request_id: request.requestId,
      balance: remaining,
      at: balance.at,
      usage_day: balance.usage_day,
      used_on_day: balance.used_on_day,
      used_in_month: balance.used_in_month,
    })),
  )
  const rows = await tx.all<{ id: number }>(
    `WITH item AS MATERIALIZED (
       SELECT ${nextOperation} AS id, t.* FROM ${list.sql} AS t
     ), balances AS (
       UPDATE credit c SET used = c.used + s.cost, usage_day = s.usage_day, used_on_day = s.used_on_day,
         used_in_month = s.used_in_month
       FROM (SELECT account_id, api_type, CAST(SUM(cost) AS bigint) AS cost, MAX(usage_day) AS usage_day,
           MAX(used_on_day) AS used_on_day, MAX(used_in_month) AS used_in_month
         FROM item GROUP BY account_id, api_type) s
       WHERE c.account_id = s.account_id AND c.api_type = s.api_type
     ), operations AS (
       INSERT INTO operation (id, account_id, api_type, action, cost, state, idempotency_key, fingerprint, lease_until,
         request_id, created_at, ended_at)
       SELECT id, account_id, api_type, action, cost, state, idempotency_key, fingerprint, at + lease_ms, request_id, at,
         CASE WHEN state = 'settled' THEN at END
       FROM item
     ), entries AS (
       INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, operation_id, at)
       SELECT account_id, api_type, 'charge', -cost, balance, id, at FROM item ORDER BY position
     )
     SELECT id FROM item ORDER BY position`,
    list.values,
  )
  return rows.map(({ id }) => id)
}
