// Writes the rows of a charge with several costs: the balance, and an operation with its ledger entry for each cost.
//
// The rows differ in their cost, so the database makes them from the list of costs.
import type { Tx } from '../../db/database.ts'
import { byEngine } from '../../db/dialect.ts'
import { type AcceptedCharge, chargeBalance, nextOperation, stateOf } from './rows-store.ts'

/** Returns the operation ids in the order of the costs. The first operation has the `Idempotency-Key`. */
export function insertSeveral(tx: Tx, charge: AcceptedCharge, costs: readonly number[]): Promise<number[]> {
  return byEngine(tx, { sqlite: insertInTurn, postgres: insertWithOneStatement })(tx, charge, costs)
}

async function insertInTurn(tx: Tx, charge: AcceptedCharge, costs: readonly number[]): Promise<number[]> {
  const { request, remaining, balance } = charge
  const { accountId, apiType, cost, idempotency } = request
  const { at } = balance
  await chargeBalance(tx, balance, cost)
  const state = stateOf(request)
  const last = await tx.insert(
    `INSERT OR FAIL INTO operation (account_id, api_type, action, cost, state, idempotency_key, fingerprint, lease_until,
       request_id, created_at, ended_at)
     SELECT ?, ?, ?, value, ?, CASE WHEN key = 0 THEN ? END, CASE WHEN key = 0 THEN ? END, ?, ?, ?, ?
     FROM json_each(?)`,
    [
      accountId,
      apiType,
      request.action,
      state,
      idempotency?.key ?? null,
      idempotency?.fingerprint ?? null,
      request.leaseMs === undefined ? null : at + request.leaseMs,
      request.requestId,
      at,
      state === 'settled' ? at : null,
      JSON.stringify(costs),
    ],
  )
  // There is one writer, so the ids of one statement are consecutive.
  const first = last - costs.length + 1
  // Most messages of a batch cost the same: a running sum would take longer than the rest of the statement.
  const isSame = costs.every((one) => one === costs[0])
  const spent = isSame ? 'cost * (id - ?)' : 'SUM(cost) OVER (ORDER BY id)'
  await tx.run(
    `INSERT OR FAIL INTO ledger (account_id, api_type, kind, amount, balance_after, operation_id, at)
     SELECT account_id, api_type, 'charge', -cost, ? - ${spent}, id, created_at
     FROM operation WHERE id BETWEEN ? AND ? ORDER BY id`,
    [remaining + cost, ...(isSame ? [first - 1] : []), first, last],
  )
  return costs.map((_cost, i) => first + i)
}

/** One round trip: while the balance is locked, every further one delays the next call of the same account. */
async function insertWithOneStatement(
  tx: Tx,
  charge: AcceptedCharge,
  costs: readonly number[],
): Promise<number[]> {
  const { request, remaining, balance } = charge
  const { accountId, apiType, cost, idempotency } = request
  // The ids as one value: reading a thousand rows takes longer than parsing their list.
  const row = await tx.one<{ ids: string }>(
    `WITH one AS (
       SELECT CAST(? AS bigint) AS account_id, CAST(? AS text) AS api_type, CAST(? AS text) AS action,
         CAST(? AS bigint) AS cost, CAST(? AS text) AS state, CAST(? AS text) AS idempotency_key,
         CAST(? AS text) AS fingerprint, CAST(? AS bigint) AS lease_until, CAST(? AS text) AS request_id,
         CAST(? AS bigint) AS at, CAST(? AS bigint) AS balance, CAST(? AS text) AS usage_day,
         CAST(? AS bigint) AS used_on_day, CAST(? AS bigint) AS used_in_month
     ), item AS MATERIALIZED (
       SELECT ${nextOperation} AS id, t.cost, t.position
       FROM unnest(CAST(? AS bigint[])) WITH ORDINALITY AS t (cost, position)
     ), balances AS (
       UPDATE credit c SET used = c.used + one.cost, usage_day = one.usage_day, used_on_day = one.used_on_day,
         used_in_month = one.used_in_month
       FROM one WHERE c.account_id = one.account_id AND c.api_type = one.api_type
     ), operations AS (
       INSERT INTO operation (id, account_id, api_type, action, cost, state, idempotency_key, fingerprint, lease_until,
         request_id, created_at, ended_at)
       SELECT item.id, one.account_id, one.api_type, one.action, item.cost, one.state,
         CASE WHEN item.position = 1 THEN one.idempotency_key END, CASE WHEN item.position = 1 THEN one.fingerprint END,
         one.lease_until, one.request_id, one.at, CASE WHEN one.state = 'settled' THEN one.at END
       FROM item CROSS JOIN one
     ), entries AS (
       INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, operation_id, at)
       SELECT one.account_id, one.api_type, 'charge', -item.cost,
         one.balance - CAST(SUM(item.cost) OVER (ORDER BY item.position) AS bigint), item.id, one.at
       FROM item CROSS JOIN one ORDER BY item.position
     )
     SELECT CAST(json_agg(id ORDER BY position) AS text) AS ids FROM item`,
    [
      accountId,
      apiType,
      request.action,
      cost,
      stateOf(request),
      idempotency?.key ?? null,
      idempotency?.fingerprint ?? null,
      request.leaseMs === undefined ? null : balance.at + request.leaseMs,
      request.requestId,
      balance.at,
      remaining + cost,
      balance.usage_day,
      balance.used_on_day,
      balance.used_in_month,
      costs,
    ],
  )
  return JSON.parse(row!.ids) as number[]
}
