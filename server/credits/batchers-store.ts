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
  if (!db.writeStatement) return create(false)
  const kindOf = (request: ChargeRequest<unknown>) =>
    chargeNeedsDecision(request, context.known) ? decided : statementWriterOf(request.inSameTransaction)
  // A key that was used makes the statement fail, which must not concern the calls without keys.
  const [keyed, plain] = [byKind(create, kindOf), byKind(create, kindOf)]
  return (request) => (request.idempotency ? keyed : plain)(request)
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
  if (!db.writeStatement) return create(false)
  return byKind(create, (request) =>
    endNeedsDecision(request) ? decided : statementWriterOf(request.inSameTransaction),
  )
}

/** The kind of requests that only a transaction can write. */
const decided = 'decided'

/**
 * Batches of their own for requests that one statement can write together, which is not so for different products, and for
 * those that have to be decided. PostgreSQL only.
 */
function byKind<I, O>(
  create: (hasStatement: boolean) => (request: I) => Promise<O>,
  kindOf: (request: I) => unknown,
): (request: I) => Promise<O> {
  const batchers = new Map<unknown, (request: I) => Promise<O>>()
  return (request) => {
    const kind = kindOf(request)
    let batcher = batchers.get(kind)
    if (!batcher) batchers.set(kind, (batcher = create(kind !== decided)))
    return batcher(request)
  }
}
