// Settles or refunds a batch of held operations in one transaction; a single end is a batch of one.
//
// Rows are locked in the same order everywhere: operations, then balances by account and type, then rows of the product.
import { insertRows } from '../../db/bulk-insert.ts'
import type { Tx } from '../../db/database.ts'
import { valueTable } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { writeAll } from '../batch-writer.ts'
import { ledgerRows } from '../charge/rows-store.ts'
import type { LedgerContext } from '../charge/store.ts'
import type { EndRequest, EndResult } from '../operation.ts'
import { storeResponses } from '../store.ts'

type EndedRow = Pick<Tables['operation'], 'id' | 'account_id' | 'api_type' | 'given_back'>

export async function endBatch(
  tx: Tx,
  requests: readonly EndRequest[],
  context: LedgerContext,
): Promise<EndResult[]> {
  // The first request for an operation decides it, also within a batch.
  const first = new Map<number, number>()
  for (const [i, { operationId }] of requests.entries())
    if (!first.has(operationId)) first.set(operationId, i)
  const deciding = [...first.values()].map((i) => requests[i]!)
  const ended = new Map((await endHeld(tx, deciding, context)).map((row) => [row.id, row]))
  const remaining = await refund(
    tx,
    [...ended.values()].filter(({ given_back: amount }) => amount > 0),
    context,
  )
  const results = requests.map(({ operationId }, i): EndResult => {
    const row = first.get(operationId) === i ? ended.get(operationId) : undefined
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
  new_response: 'text',
  more_sends: 'bigint',
} as const

/** Returns the operations that were still held. */
function endHeld(tx: Tx, requests: readonly EndRequest[], { cipher }: LedgerContext): Promise<EndedRow[]> {
  const list = valueTable(
    tx,
    endColumns,
    requests.map(({ operationId, end, response, sends }) => ({
      operation_id: operationId,
      end_state: end.state,
      refund: end.state === 'settled' ? (end.refund ?? 0) : null,
      new_response: response && typeof response !== 'function' ? cipher.encrypt(response) : null,
      more_sends: sends ?? 0,
    })),
  )
  return tx.all<EndedRow>(
    `UPDATE operation SET state = t.end_state, given_back = COALESCE(t.refund, operation.cost),
       response = COALESCE(t.new_response, operation.response), sends = operation.sends + t.more_sends, ended_at = ${tx.now}
     FROM ${list.sql} AS t WHERE operation.id = t.operation_id AND operation.state = 'held'
     RETURNING id, account_id, api_type, given_back`,
    list.values,
  )
}

/** Returns the balance after each refund, by operation. */
async function refund(
  tx: Tx,
  operations: readonly EndedRow[],
  { onMoved }: LedgerContext,
): Promise<Map<number, number>> {
  const remaining = new Map<number, number>()
  if (operations.length === 0) return remaining
  const entries = []
  const balances = Map.groupBy(
    operations.toSorted((a, b) => a.account_id - b.account_id || (a.api_type < b.api_type ? -1 : 1)),
    ({ account_id: id, api_type: type }) => `${id} ${type}`,
  )
  for (const group of balances.values()) {
    const { account_id: accountId, api_type: apiType } = group[0]!
    const amount = group.reduce((sum, { given_back: part }) => sum + part, 0)
    const balance = await tx.one<{ remaining: number; at: number }>(
      `UPDATE credit SET used = used - ? WHERE account_id = ? AND api_type = ?
       RETURNING total - used AS remaining, ${tx.now} AS at`,
      [amount, accountId, apiType],
    )
    if (!balance) throw new Error(`operation ${group[0]!.id} has no balance`)
    let after = balance.remaining - amount
    for (const { id, given_back: part } of group) {
      after += part
      remaining.set(id, after)
      entries.push({
        account_id: accountId,
        api_type: apiType,
        kind: 'refund' as const,
        amount: part,
        balance_after: after,
        operation_id: id,
        at: balance.at,
      })
    }
    tx.afterCommit(() => onMoved({ kind: 'refund', apiType, amount }))
  }
  await insertRows(tx, ledgerRows, entries)
  return remaining
}
