// Concurrent charges and ends share transactions, so that one busy account is not limited by one lock and one fsync per call.
import { createBatcher } from '../db/batcher.ts'
import type { Database } from '../db/database.ts'
import { statementWriterOf } from './batch-writer.ts'
import { chargeNeedsDecision, chargeWithOneStatement } from './charge/one-statement-store.ts'
import type { Repeats } from './charge/repeats.ts'
import { chargeBatch, type LedgerContext } from './charge/store.ts'
import { endNeedsDecision, settleWithOneStatement } from './end/one-statement-store.ts'
import { endBatch } from './end/store.ts'
import type { ChargeRequest, ChargeResult, EndRequest, EndResult, PreviousCall } from './operation.ts'

const maxBatch = 256

/** Results of a charge whose `Idempotency-Key` was used before. */
const previousKinds: Readonly<Record<PreviousCall['kind'], true>> = {
  replay: true,
  interrupted: true,
  other_parameters: true,
  running: true,
  overdue: true,
}

export function createChargeBatcher(
  db: Database,
  context: LedgerContext,
  repeats: Repeats,
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
  const decided = create(false)
  // A key that was used makes the statement fail, which must not concern the calls without keys.
  const [keyed, plain] = [byWriter(() => create(true)), byWriter(() => create(true))]
  const needsDecision = (request: ChargeRequest<unknown>) => chargeNeedsDecision(request, context.known)

  async function chargeKeyed(request: ChargeRequest<unknown>): Promise<ChargeResult<unknown>> {
    const { accountId, inSameTransaction: write } = request
    const isDecided = repeats.has(accountId) || needsDecision(request)
    const result = await (isDecided ? decided : keyed(statementWriterOf(write)))(request)
    if (result.kind in previousKinds) repeats.add(accountId)
    return result
  }

  return (request) => {
    if (request.idempotency) return chargeKeyed(request)
    return (needsDecision(request) ? decided : plain(statementWriterOf(request.inSameTransaction)))(request)
  }
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
  const decided = create(false)
  const plain = byWriter(() => create(true))
  return (request) =>
    (endNeedsDecision(request) ? decided : plain(statementWriterOf(request.inSameTransaction)))(request)
}

/** Batches of their own for the requests that one statement can write together, which is not so for different products. */
function byWriter<B>(create: () => B): (writer: unknown) => B {
  const batchers = new Map<unknown, B>()
  return (writer) => {
    let batcher = batchers.get(writer)
    if (!batcher) batchers.set(writer, (batcher = create()))
    return batcher
  }
}
