// Settles a batch with one statement that is a transaction of its own. PostgreSQL only.
//
// Most ends settle an operation that is still held, without a refund, and change one row of the product. A batch of such ends
// needs no decision: the statement checks that it is so, and fails as a whole if not.
import type { StatementResults } from '../../db/batcher.ts'
import type { Database } from '../../db/database.ts'
import { orderedUpdate, unnest } from '../../db/dialect.ts'
import { commonStatement, statementWriterOf } from '../batch-writer.ts'
import type { LedgerContext } from '../charge/store.ts'
import type { EndRequest, EndResult } from '../operation.ts'
import { tryStatement } from '../try-statement-store.ts'

const settledColumns = { operation_id: 'bigint', new_response: 'text', more_sends: 'bigint' } as const

const settled: EndResult = { ended: true, refunded: 0, remaining: undefined }

/** Returns undefined when the batch needs a transaction with decisions: then nothing was written. */
export async function settleWithOneStatement(
  db: Pick<Database, 'engine' | 'writeStatement' | 'now'>,
  requests: readonly EndRequest[],
  { cipher }: LedgerContext,
): Promise<StatementResults<EndResult> | undefined> {
  if (!db.writeStatement) return undefined
  const buildPart = commonStatement(requests.map((request) => request.inSameTransaction))
  if (!buildPart || requests.some(endNeedsDecision)) return undefined
  const part = buildPart()
  const list = unnest(
    settledColumns,
    requests.map(({ operationId, response, sends = 0 }) => ({
      operation_id: operationId,
      new_response: typeof response === 'object' ? cipher.encrypt(response) : null,
      more_sends: sends,
    })),
  )
  const update = orderedUpdate(db, 'operation', { id: 'operation_id' }, list)
  const sql = `${update.with}, settled AS (
      UPDATE operation SET state = 'settled', given_back = 0, sends = operation.sends + t.more_sends, ended_at = ${db.now},
        response = CASE WHEN operation.idempotency_key IS NOT NULL THEN COALESCE(operation.response, t.new_response) END
      FROM ${update.from} WHERE ${update.where} AND operation.state = 'held'
      RETURNING operation.id
    )${part.ctes}
    SELECT 1 / CASE WHEN count(*) = CAST(? AS bigint) THEN 1 ELSE 0 END AS complete, ${part.returning} AS written
    FROM settled`
  const row = await tryStatement<{ written: string }>(db.writeStatement, [
    sql,
    [...update.values, ...part.values, requests.length],
  ])
  if (!row) return undefined
  part.read(
    row.written,
    requests.map(() => settled),
  )
  return { results: requests.map(() => settled), isContended: false }
}

/** Whether the end has to be decided by itself. */
export function endNeedsDecision({ end, response, minSends, inSameTransaction: write }: EndRequest): boolean {
  if (end.state !== 'settled' || end.refund || typeof response === 'function' || minSends !== undefined)
    return true
  return write !== undefined && !statementWriterOf(write)
}
