// Shows and cancels batches.
import { batchIdOf, batchNumberOf, type BatchState } from '../../../contract/sms-text.ts'
import { sms } from '../../../contract/sms.ts'
import { defaultPageSize } from '../../../contract/paging.ts'
import { formatTime } from '../../../contract/time.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../../accounts/authenticate.ts'
import { requireStillAllowed } from '../../accounts/still-allowed-store.ts'
import { registerWriter } from '../../credits/batch-writer.ts'
import type { EndResult } from '../../credits/operation.ts'
import type { Tx } from '../../db/database.ts'
import { type Call, readCallParameters, requireParameters } from '../../http/call.ts'
import { createCursors, limitProblem } from '../../http/cursor.ts'
import { AppError } from '../../http/errors.ts'
import { parameterError } from '../../http/parameters.ts'
import { type ApiResponse, envelope } from '../../http/responses.ts'
import type { Services } from '../../services.ts'
import type { Period } from '../number-limit-store.ts'
import { currentPeriods, uncountMessages } from '../number-limits.ts'
import { describeRecord } from '../responses.ts'
import { findSends, markFailed } from '../store.ts'
import { countDecided } from './finish.ts'
import { cancelledPerSlice, removeWaiting, subtractWaiting } from './queue-store.ts'
import { type BatchCounts, type BatchRow, countMessagesOf, findBatch } from './store.ts'

export function batchStateOf({ total }: Pick<BatchRow, 'total'>, counts: BatchCounts): BatchState {
  if (counts.pending === 0) return counts.cancelled === total ? 'cancelled' : 'finished'
  return counts.started > 0 ? 'sending' : 'waiting'
}

export interface BatchHandlers {
  show(call: Call, caller: Caller): Promise<ApiResponse>
  cancel(call: Call, caller: Caller): Promise<ApiResponse>
}

export function createBatchHandlers(services: Services): BatchHandlers {
  const { db, credits, config } = services
  const cursors = createCursors(services.secretFor('sms batch cursors'))

  async function requireBatch(accountId: number, batchId: string): Promise<BatchRow> {
    const id = batchNumberOf(batchId)
    const batch = id === undefined ? undefined : await findBatch(db, accountId, id)
    if (batch) return batch
    throw new AppError(1002, { zh: '批次不存在', en: 'The batch does not exist' })
  }

  async function show(call: Call, { account }: Caller): Promise<ApiResponse> {
    const { values, missing, invalid } = readCallParameters(call, sms.operations.get_batch.parameters)
    const { batch_id: batchId, limit = defaultPageSize, cursor } = values
    const outOfRange = limitProblem(limit)
    const problems = outOfRange ? [...invalid, outOfRange] : invalid
    if (missing.length > 0 || problems.length > 0) throw parameterError(missing, problems)
    requireNotSuspended(account)
    const batch = await requireBatch(account.id, batchId)
    const query = [account.id, 'get_batch', batch.id]
    const position = cursors.read(query, cursor)
    const filter = {
      accountId: account.id,
      batchId: batch.id,
      after: position && { created_at: position[0]!, id: position[1]! },
    }
    const counts = await countMessagesOf(db, batch)
    const records = await findSends(db, filter, limit + 1)
    const page = records.slice(0, limit)
    const last = records.length > limit ? page.at(-1) : undefined
    return envelope({
      batch_id: batchIdOf(batch.id),
      state: batchStateOf(batch, counts),
      send_at: batch.send_at === null ? '' : formatTime(batch.send_at),
      total: batch.total,
      succeeded: counts.succeeded,
      failed: counts.failed,
      cancelled: counts.cancelled,
      pending: counts.pending,
      credits_used: counts.credits_used,
      items: page.map((record) => describeRecord(record, call.language)),
      next_cursor: last ? cursors.write(query, [last.created_at, last.id]) : null,
    })
  }

  async function cancel(call: Call, caller: Caller): Promise<ApiResponse> {
    const { account } = caller
    const { batch_id: batchId } = requireParameters(call, sms.operations.cancel_batch.parameters)
    requireNotSuspended(account)
    requireNotExpired(account, 403)
    const batch = await requireBatch(account.id, batchId)
    let cancelled = 0
    for (;;) {
      const slice = await db.write(async (tx) => {
        // What is cancelled stays cancelled, so only the first slice asks.
        if (cancelled === 0) await requireStillAllowed(tx, call, caller, 403)
        return cancelSlice(tx, batch)
      })
      cancelled += slice.cancelled
      if (slice.removed < cancelledPerSlice) break
    }
    if (cancelled === 0) {
      throw new AppError(
        1005,
        { zh: '没有可取消的短信', en: 'There is nothing left to cancel' },
        { status: 409 },
      )
    }
    const { remaining } = await credits.balance(account.id, 'sms')
    return envelope({ batch_id: batchIdOf(batch.id), cancelled, remaining_credits: remaining })
  }

  /** A worker takes a message or this transaction removes it from the queue, never both. */
  async function cancelSlice(tx: Tx, batch: BatchRow): Promise<{ removed: number; cancelled: number }> {
    const rows = await removeWaiting(tx, batch.id)
    if (rows.length === 0) return { removed: 0, cancelled: 0 }
    const ends = await credits.endIn(
      tx,
      rows.map((row) => ({
        accountId: batch.account_id,
        operationId: row.operation_id,
        end: { state: 'refunded' },
        inSameTransaction: markCancelled({
          id: row.send_id,
          phone: row.phone,
          periods: currentPeriods(config.SMS_NUMBER_LIMITS, row.planned_at),
          batch_id: batch.id,
        }),
      })),
    )
    await subtractWaiting(tx, batch.id, rows.length)
    return { removed: rows.length, cancelled: ends.filter(({ ended }) => ended).length }
  }

  return { show, cancel }
}

interface CancelledSend {
  readonly id: number
  readonly phone: string
  readonly periods: readonly Period[]
  readonly batch_id: number
}

const markCancelled = registerWriter<CancelledSend, EndResult, void>(async (tx, items) => {
  const sends = items.filter(({ result }) => result.ended).map(({ item }) => item)
  await markFailed(
    tx,
    sends.map(({ id }) => ({ id, state: 'refused', charged: false, problem: 'cancelled', code: '' })),
  )
  await uncountMessages(tx, sends)
  await countDecided(tx, sends)
})
