// Sends the messages of batches: takes due ones from the queue, calls the gateways, and ends their operations.
//
// Every process runs one. A message is sent by the process that took it, once: after a crash its lease expires and the sweeper
// decides it. Only a message that was provably not sent goes back into the queue.
import { isMarketingHour } from '../../../contract/sms-text.ts'
import type { Services } from '../../services.ts'
import type { Failure, Outcome } from '../../upstream/outcome.ts'
import { createGatewayCalls, type SendAttempt } from '../call-gateways.ts'
import type { EndRequest } from '../../credits/operation.ts'
import { markRefused, markSettled, markUnknown } from '../ends.ts'
import { eventOfPaid, eventOfRefunded } from '../events.ts'
import type { GuardedSmsGateway } from '../gateways.ts'
import { currentPeriods } from '../number-limits.ts'
import { findProblem } from '../problems.ts'
import type { SentMessage } from '../port.ts'
import { ambiguousLeaseMs } from '../send.ts'
import type { FailedSend } from '../store.ts'
import { createPreparation, type PreparedMessage } from './prepare.ts'
import { createReturnBatcher, findDueBatches, type QueueRow, takeMessages } from './queue-store.ts'

export interface BatchWorker {
  /** Looks for due messages now. */
  wake(): void
  /** Takes no more messages, and resolves when those in progress have ended. */
  stop(): Promise<void>
}

/** Half of a gateway's bulkhead, so that a batch never delays single messages. */
const maxInProgress = { network: 50, sandbox: 512 }

const batchesPerRound = 16

/** Messages are taken when at least this many slots are free, so that one transaction takes several. */
const minTaken = { network: 10, sandbox: 256 }

/**
 * How long after its first failure a message is tried again while a gateway limits us. It works, so this is longer than the default
 * of SMS_RETRY_S.
 */
const throttledRetryMs = 600_000

const maxRetryDelayMs = 15_000

/** After a throttled call, half as many messages are in progress; each accepted one adds a part of a slot. */
const recovery = 0.2
const slowDownPauseMs = 1_000

export function createBatchWorker(services: Services, gateways: readonly GuardedSmsGateway[]): BatchWorker {
  const { config, credits, db, log, now: timeOfDay } = services
  const leaseMs = config.OPERATION_LEASE_S * 1000
  const kind = gateways.every(({ name }) => name === 'sandbox') ? 'sandbox' : 'network'
  const callGateways = createGatewayCalls(db, gateways, leaseMs)
  const prepare = createPreparation(services)
  const requeue = createReturnBatcher(db)

  let places: number = maxInProgress[kind]
  let inProgress = 0
  let slowedDownAt = -Infinity
  let stopping = false
  let running: Promise<void> | undefined
  let wokenAgain = false
  let onFree = Promise.withResolvers<void>()
  let onIdle: (() => void) | undefined

  async function take(free: number): Promise<PreparedMessage[]> {
    const due = await findDueBatches(db, isMarketingHour(timeOfDay()), batchesPerRound)
    if (due.length === 0) return []
    const share = Math.max(1, Math.floor(free / due.length))
    const ids = due.slice(0, free).map(({ id }) => id)
    // Before the transaction, so that our view of the lease never ends after the database's.
    const leaseStartedAt = performance.now()
    const taken = await db.write((tx) =>
      takeMessages(tx, ids, { share, leaseMs, gateway: gateways[0]?.name }),
    )
    try {
      const prepared = await prepare(taken, leaseStartedAt)
      inProgress += prepared.length
      return prepared
    } catch (error) {
      await Promise.allSettled(taken.map(({ row }) => requeue({ row, delayMs: maxRetryDelayMs })))
      throw error
    }
  }

  async function run(): Promise<void> {
    while (!stopping) {
      const free = Math.floor(places) - inProgress
      if (free < Math.min(minTaken[kind], Math.floor(places))) {
        onFree = Promise.withResolvers()
        await onFree.promise
        continue
      }
      const messages = await take(free)
      if (messages.length === 0) return
      for (const message of messages) void send(message)
    }
  }

  async function send(message: PreparedMessage): Promise<void> {
    try {
      const { work } = message
      if ('problem' in work) await refuse(message, { problem: work.problem, code: '' })
      else {
        const attempt = await callGateways(work)
        adjustPlaces(attempt.outcome)
        await finish(message, attempt)
      }
    } catch (error) {
      // The lease expires and the sweeper decides the operation.
      log.error({ err: error, operation: message.row.operation_id }, 'failed to end a message of a batch')
    } finally {
      inProgress -= 1
      onFree.resolve()
      if (inProgress === 0) onIdle?.()
    }
  }

  function adjustPlaces(outcome: Outcome<SentMessage>): void {
    if (outcome.kind === 'accepted') places = Math.min(maxInProgress[kind], places + recovery)
    else if (outcome.kind === 'throttled' && outcome.concerns === 'us') {
      if (performance.now() - slowedDownAt < slowDownPauseMs) return
      slowedDownAt = performance.now()
      places = Math.max(1, places / 2)
    }
  }

  async function finish(message: PreparedMessage, { outcome, gateway }: SendAttempt): Promise<void> {
    const { row, send: record, account } = message
    if (outcome.kind === 'accepted') {
      const event = eventOfPaid(account, record)
      const { gatewayId } = outcome.value
      await end(row, {
        end: { state: 'settled' },
        sends: 1,
        inSameTransaction: markSettled({ id: record.id, gatewayId, event, batch_id: row.batch_id }),
      })
      return
    }
    const why = { ...findProblem(outcome), gateway }
    if (outcome.kind === 'ambiguous') {
      await end(row, {
        end: { state: 'held', leaseMs: ambiguousLeaseMs },
        sends: 1,
        inSameTransaction: markUnknown({ id: record.id, state: 'unknown', charged: true, ...why }),
      })
    } else if (!(await tryLater(message, outcome))) await refuse(message, why)
  }

  /** False when another try cannot help, or the time for it is over. */
  async function tryLater(
    { row, send: record, leaseStartedAt }: PreparedMessage,
    outcome: Failure,
  ): Promise<boolean> {
    const isThrottled = outcome.kind === 'throttled' && outcome.concerns === 'us'
    const isNotSent = outcome.kind === 'not_sent' && outcome.onlyThisRequest !== true
    if (!isThrottled && !isNotSent) return false
    const now = Math.round(record.sent_at + (performance.now() - leaseStartedAt))
    const retryMs = config.SMS_RETRY_S * 1000
    // Each try is counted from the first failure, or a vendor that never stops limiting us would hold the credits forever.
    // It is further ahead after the clock was set back.
    const retryUntil = Math.min(row.retry_until ?? Infinity, now + retryMs)
    const until = isThrottled ? retryUntil + Math.max(0, throttledRetryMs - retryMs) : retryUntil
    if (now >= until) return false
    const delayMs =
      Math.min(maxRetryDelayMs, 1000 * 2 ** Math.min(row.tries, 10)) * (0.75 + Math.random() / 2)
    const next = { ...row, tries: row.tries + 1, retry_until: retryUntil }
    await requeue({ row: next, delayMs: Math.round(delayMs) })
    return true
  }

  async function refuse(
    message: PreparedMessage,
    why: Pick<FailedSend, 'problem' | 'code' | 'gateway'>,
  ): Promise<void> {
    const { row, send: record, account } = message
    await end(row, {
      end: { state: 'refunded' },
      inSameTransaction: markRefused({
        failed: { id: record.id, state: 'refused', charged: false, ...why },
        phone: record.phone,
        periods: currentPeriods(config.SMS_NUMBER_LIMITS, row.planned_at),
        code: undefined,
        event: eventOfRefunded(account, record, why.problem),
        batch_id: row.batch_id,
      }),
    })
  }

  async function end(row: QueueRow, request: Omit<EndRequest, 'accountId' | 'operationId'>): Promise<void> {
    await credits.end({ accountId: row.account_id, operationId: row.operation_id, ...request })
  }

  function wake(): void {
    if (stopping) return
    if (running) {
      wokenAgain = true
      return
    }
    wokenAgain = false
    running = run()
      .catch((error: unknown) => log.error({ err: error }, 'failed to take messages from the queue'))
      .finally(() => {
        running = undefined
        if (wokenAgain) wake()
      })
  }

  return {
    wake,
    async stop() {
      stopping = true
      onFree.resolve()
      await running
      if (inProgress > 0) await new Promise<void>((resolve) => (onIdle = resolve))
    },
  }
}
