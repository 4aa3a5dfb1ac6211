// Concurrent charges and ends share transactions, so that one busy account is not limited by one lock and one fsync per call.
import { createBatcher } from '../db/batcher.ts'
import type { Database } from '../db/database.ts'
import { statementWriterOf } from './batch-writer.ts'
import { chargeNeedsDecision, chargeWithOneStatement } from './charge/one-statement-store.ts'
import { chargeBatch, type LedgerContext } from './charge/store.ts'
import { endNeedsDecision, settleWithOneStatement } from './end/one-statement-store.ts'
import { endBatch } from './end/store.ts'
import type { ChargeRequest, ChargeResult, EndRequest, EndResult } from './operation.ts'

const maxBatch = 256

export function createChargeBatcher(
  db: Database,
  context: LedgerContext,
): (request: ChargeRequest<unknown>) => Promise<ChargeResult<unknown>> {
  const create = (hasStatement: boolean) =>
    createBatcher<ChargeRequest<unknown>, ChargeResult<unknown>>(db, {
      maxBatch,
      queueKeyOf: ({ accountId }) => accountId,
      run: (tx, requests, takeMore) => chargeBatch(tx, requests, context, takeMore),
      ...(hasStatement && {
        runStatement: (requests) => chargeWithOneStatement(db, requests, context),
      }),
    })
  return byKind(db, create, (request) =>
    chargeNeedsDecision(request, context.known) ? decided : statementWriterOf(request.inSameTransaction),
  )
}

export function createEndBatcher(
  db: Database,
  context: LedgerContext,
): (request: EndRequest) => Promise<EndResult> {
  const create = (hasStatement: boolean) =>
    createBatcher<EndRequest, EndResult>(db, {
      maxBatch,
      queueKeyOf: ({ accountId }) => accountId,
      run: (tx, requests) => endBatch(tx, requests, context),
      ...(hasStatement && {
        runStatement: (requests) => settleWithOneStatement(db, requests, context),
      }),
    })
  return byKind(db, create, (request) =>
    endNeedsDecision(request) ? decided : statementWriterOf(request.inSameTransaction),
  )
}

/** The kind of requests that only a transaction can write. */
const decided = 'decided'

/**
 * Batches of their own for requests that one statement can write together, which is not so for different products, and for
 * those that have to be decided. SQLite has no such statements, and one kind.
 */
function byKind<I, O>(
  db: Database,
  create: (hasStatement: boolean) => (request: I) => Promise<O>,
  kindOf: (request: I) => unknown,
): (request: I) => Promise<O> {
  if (!db.writeStatement) return create(false)
  const batchers = new Map<unknown, (request: I) => Promise<O>>()
  return (request) => {
    const kind = kindOf(request)
    let batcher = batchers.get(kind)
    if (!batcher) batchers.set(kind, (batcher = create(kind !== decided)))
    return batcher(request)
  }
}
