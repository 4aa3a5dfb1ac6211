// Settles or refunds a batch of held operations in one transaction; a single end is a batch of one.
//
// Rows are locked in the same order everywhere: operations by id, balances by account and API type, rows of the product.
import { insertRows } from '../../db/bulk-insert.ts'
import type { Tx } from '../../db/database.ts'
import { orderedUpdate, valueTable } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { writeAll } from '../batch-writer.ts'
import { reducedUsage, type RefundedUsage, refundedUsage } from '../charge/caps-store.ts'
import { ledgerRows } from '../charge/rows-store.ts'
import type { LedgerContext } from '../charge/store.ts'
import type { EndRequest, EndResult } from '../operation.ts'
import { storeResponses } from '../store.ts'

type EndedRow = Pick<Tables['operation'], 'id' | 'account_id' | 'api_type' | 'given_back' | 'created_at'>

export async function endBatch(
  tx: Tx,
  requests: readonly EndRequest[],
  context: LedgerContext,
): Promise<EndResult[]> {
  // The first request for an operation decides it, also within a batch.
  const first = new Map<number, number>()
  const repeated: number[] = []
  for (const [i, { operationId }] of requests.entries()) {
    if (first.has(operationId)) repeated.push(i)
    else first.set(operationId, i)
  }
  const indexes = [...first.values()]
  const deciding = indexes.map((i) => requests[i]!)
  const results: EndResult[] = []
  for (const [i, result] of (await endEach(tx, deciding, context)).entries()) results[indexes[i]!] = result
  if (repeated.length > 0) {
    // The first request may have held the operation longer, so these are decided like any later one.
    const later = repeated.map((i) => requests[i]!)
    for (const [i, result] of (await endBatch(tx, later, context)).entries()) results[repeated[i]!] = result
  }
  return results
}

/** Every operation occurs once. */
async function endEach(
  tx: Tx,
  requests: readonly EndRequest[],
  context: LedgerContext,
): Promise<EndResult[]> {
  const ended = new Map((await endHeld(tx, requests, context)).map((row) => [row.id, row]))
  const remaining = await refund(
    tx,
    [...ended.values()].filter(({ given_back: amount }) => amount > 0),
    context,
  )
  const results = requests.map(({ operationId }): EndResult => {
    const row = ended.get(operationId)
    return row
      ? { ended: true, refunded: row.given_back, remaining: remaining.get(row.id) }
      : { ended: false, refunded: 0, remaining: undefined }
  })
  await storeResponses(
    tx,
    requests.flatMap(({ operationId, response }, i) =>
      typeof response === 'function' && results[i]!.ended
        ? [{ operationId, response: context.cipher.encrypt(response(results[i]!.remaining)) }]
        : [],
    ),
  )
  await writeAll(
    tx,
    requests.map(({ inSameTransaction }, i) => ({ write: inSameTransaction, result: results[i]! })),
  )
  return results
}

const endColumns = {
  operation_id: 'bigint',
  end_state: 'text',
  refund: 'bigint',
  lease_ms: 'bigint',
  if_overdue: 'bigint',
  new_response: 'text',
  more_sends: 'bigint',
  min_sends: 'bigint',
} as const

/** Returns the operations that were still held. */
function endHeld(tx: Tx, requests: readonly EndRequest[], { cipher }: LedgerContext): Promise<EndedRow[]> {
  const list = valueTable(
    tx,
    endColumns,
    requests.map(({ operationId, end, response, sends = 0, minSends = 0 }) => ({
      operation_id: operationId,
      end_state: end.state,
      refund: end.state === 'refunded' ? null : end.state === 'settled' ? (end.refund ?? 0) : 0,
      lease_ms: end.state === 'held' ? end.leaseMs : null,
      if_overdue: end.state === 'refunded' && end.ifOverdue === true ? 1 : 0,
      new_response: response && typeof response !== 'function' ? cipher.encrypt(response) : null,
      more_sends: sends,
      min_sends: minSends,
    })),
  )
  const update = orderedUpdate(tx, 'operation', { id: 'operation_id' }, list)
  // The response of an operation without an Idempotency-Key would never be read, and never be deleted.
  return tx.all<EndedRow>(
    `${update.with} UPDATE operation SET state = t.end_state, given_back = COALESCE(t.refund, operation.cost),
       response = CASE WHEN operation.idempotency_key IS NULL THEN NULL ELSE COALESCE(operation.response, t.new_response) END,
       sends = CASE WHEN operation.sends + t.more_sends < t.min_sends THEN t.min_sends
         ELSE operation.sends + t.more_sends END,
       lease_until = COALESCE(${tx.now} + t.lease_ms, operation.lease_until),
       ended_at = CASE WHEN t.lease_ms IS NULL THEN ${tx.now} END
     FROM ${update.from} WHERE ${update.where} AND operation.state = 'held'
       AND (t.if_overdue = 0 OR operation.lease_until <= ${tx.now})
     RETURNING operation.id, operation.account_id, operation.api_type, operation.given_back, operation.created_at`,
    update.values,
  )
}

type RefundedBalance = Pick<Tables['credit'], 'account_id' | 'api_type'> & {
  readonly remaining: number
  readonly at: number
}

/** Returns the balance after each refund, by operation. */
async function refund(
  tx: Tx,
  operations: readonly EndedRow[],
  { onMoved }: LedgerContext,
): Promise<Map<number, number>> {
  const remaining = new Map<number, number>()
  if (operations.length === 0) return remaining
  const groups = Map.groupBy(operations, ({ account_id: id, api_type: type }) => `${id} ${type}`)
  const sums = new Map(
    Array.from(groups, ([name, group]) => [name, group.reduce((sum, { given_back: part }) => sum + part, 0)]),
  )
  const balances = await addToBalances(
    tx,
    Array.from(groups, ([name, group]) => ({
      owner_id: group[0]!.account_id,
      credit_type: group[0]!.api_type,
      refund: sums.get(name)!,
      ...refundedUsage(group),
    })),
  )
  const entries = []
  for (const [name, group] of groups) {
    const balance = balances.get(name)
    if (!balance) throw new Error(`operation ${group[0]!.id} has no balance`)
    const amount = sums.get(name)!
    const { account_id, api_type } = balance
    let after = balance.remaining - amount
    for (const { id, given_back: part } of group) {
      after += part
      remaining.set(id, after)
      entries.push({
        account_id,
        api_type,
        kind: 'refund' as const,
        amount: part,
        balance_after: after,
        operation_id: id,
        at: balance.at,
      })
    }
    tx.afterCommit(() => onMoved({ kind: 'refund', apiType: api_type, amount }))
  }
  await insertRows(tx, ledgerRows, entries)
  return remaining
}

const refundColumns = {
  owner_id: 'bigint',
  credit_type: 'text',
  refund: 'bigint',
  day: 'text',
  on_day: 'bigint',
  in_month: 'bigint',
} as const

async function addToBalances(
  tx: Tx,
  refunds: readonly (RefundedUsage & { owner_id: number; credit_type: string; refund: number })[],
): Promise<Map<string, RefundedBalance>> {
  const list = valueTable(tx, refundColumns, refunds)
  const update = orderedUpdate(tx, 'credit', { account_id: 'owner_id', api_type: 'credit_type' }, list)
  const rows = await tx.all<RefundedBalance>(
    `${update.with} UPDATE credit SET used = credit.used - t.refund, ${reducedUsage} FROM ${update.from} WHERE ${update.where}
     RETURNING credit.account_id, credit.api_type, credit.total - credit.used AS remaining, ${tx.now} AS at`,
    update.values,
  )
  return new Map(rows.map((row) => [`${row.account_id} ${row.api_type}`, row]))
}
