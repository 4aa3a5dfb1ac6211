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
  const create = () =>
    createBatcher<ChargeRequest<unknown>, ChargeResult<unknown>>(db, {
      maxBatch,
      queueKeyOf: ({ accountId }) => accountId,
      run: (tx, requests, takeMore) => chargeBatch(tx, requests, context, takeMore),
      ...(db.writeStatement && {
        runStatement: (requests) => chargeWithOneStatement(db, requests, context),
      }),
    })
  if (!db.writeStatement) return create()
  return byKind(create, (request) => {
    // A thousand operations take longer than others should wait.
    if (request.costs) return 'several'
    return chargeNeedsDecision(request, context.known)
      ? 'decided'
      : statementWriterOf(request.inSameTransaction)
  })
}

export function createEndBatcher(
  db: Database,
  context: LedgerContext,
): (request: EndRequest) => Promise<EndResult> {
  const create = () =>
    createBatcher<EndRequest, EndResult>(db, {
      maxBatch,
      queueKeyOf: ({ accountId }) => accountId,
      run: (tx, requests) => endBatch(tx, requests, context),
      ...(db.writeStatement && {
        runStatement: (requests) => settleWithOneStatement(db, requests, context),
      }),
    })
  if (!db.writeStatement) return create()
  return byKind(create, (request) =>
    endNeedsDecision(request) ? 'decided' : statementWriterOf(request.inSameTransaction),
  )
}

/**
 * Batches of their own for requests that one statement can write together, which is not so for different products, and for
 * those that have to be decided.
 */
function byKind<I, O>(
  create: () => (request: I) => Promise<O>,
  kindOf: (
    request: I,
  ) => string | ((...args: never[]) => unknown) | { readonly statement?: unknown } | undefined,
): (request: I) => Promise<O> {
  const batchers = new Map<unknown, (request: I) => Promise<O>>()
  return (request) => {
    const kind = kindOf(request)
    let batcher = batchers.get(kind)
    if (!batcher) batchers.set(kind, (batcher = create()))
    return batcher(request)
  }
}
