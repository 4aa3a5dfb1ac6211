// Counts the messages of batches that were decided, and reports a batch with its last one.
import { batchIdOf } from '../../../contract/sms-text.ts'
import type { Database, Tx } from '../../db/database.ts'
import { emitEvents } from '../../events/emit.ts'
import { findPostponed, pullInMessages } from './queue-store.ts'
import { countMessagesOf, findStale, recount, storeCreditsUsed, subtractPending } from './store.ts'

/** Call this in the transaction that ended the operations, after it has updated the send records. */
export async function countDecided(
  tx: Tx,
  sends: readonly { readonly batch_id: number | null }[],
): Promise<void> {
  const ended = new Map<number, number>()
  for (const { batch_id: id } of sends) if (id !== null) ended.set(id, (ended.get(id) ?? 0) + 1)
  if (ended.size > 0) await finishBatches(tx, ended)
}

async function finishBatches(tx: Tx, ended: ReadonlyMap<number, number>): Promise<void> {
  for (const batch of await subtractPending(tx, ended)) {
    const { succeeded, failed, cancelled, credits_used } = await countMessagesOf(tx, {
      id: batch.id,
      credits_used: null,
    })
    await storeCreditsUsed(tx, batch.id, credits_used)
    await emitEvents(tx, [
      {
        accountId: batch.account_id,
        type: 'sms.batch.finished',
        data: {
          batch_id: batchIdOf(batch.id),
          template_code: batch.template_code,
          state: cancelled === batch.total ? 'cancelled' : 'finished',
          total: batch.total,
          succeeded,
          failed,
          cancelled,
          credits_used,
        },
      },
    ])
  }
}

const batchesPerRound = 100

/** During an update, processes of the previous version end messages without counting them in their batch. */
export async function repairBatches(db: Database): Promise<void> {
  for (const { id } of await findStale(db, batchesPerRound)) {
    await db.write(async (tx) => {
      await recount(tx, id)
      await finishBatches(tx, new Map([[id, 0]]))
    })
  }
}

/** After a clock that was ahead was set back. */
export async function pullInBatches(db: Database): Promise<void> {
  for (const { id } of await findPostponed(db, batchesPerRound))
    await db.write((tx) => pullInMessages(tx, id))
}
