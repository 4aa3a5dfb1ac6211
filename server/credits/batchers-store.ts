// Concurrent charges and ends share transactions, so that one busy account is not limited by one lock and one fsync per call.
import { createBatcher } from '../db/batcher.ts'
import type { Database } from '../db/database.ts'
import { chargeWithOneStatement } from './charge/one-statement-store.ts'
import { chargeBatch, type LedgerContext } from './charge/store.ts'
import { settleWithOneStatement } from './end/one-statement-store.ts'
import { endBatch } from './end/store.ts'
import type { ChargeRequest, ChargeResult, EndRequest, EndResult } from './operation.ts'

const maxBatch = 256

export function createChargeBatcher(
  db: Database,
  context: LedgerContext,
): (request: ChargeRequest<unknown>) => Promise<ChargeResult<unknown>> {
  return createBatcher<ChargeRequest<unknown>, ChargeResult<unknown>>(db, {
    maxBatch,
    queueKeyOf: ({ accountId }) => accountId,
    run: (tx, requests, takeMore) => chargeBatch(tx, requests, context, takeMore),
    ...(db.writeStatement && {
      runStatement: (requests) => chargeWithOneStatement(db, requests, context),
    }),
  })
}

export function createEndBatcher(
  db: Database,
  context: LedgerContext,
): (request: EndRequest) => Promise<EndResult> {
  return createBatcher<EndRequest, EndResult>(db, {
    maxBatch,
    queueKeyOf: ({ accountId }) => accountId,
    run: (tx, requests) => endBatch(tx, requests, context),
    ...(db.writeStatement && {
      runStatement: (requests) => settleWithOneStatement(db, requests, context),
    }),
  })
}
