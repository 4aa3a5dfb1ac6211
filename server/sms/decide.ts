// Decides open operations by the delivery status from a receipt or a status query, or refunds them after the lease.
import { bizIdOf, recordIdOf } from '../../contract/sms-text.ts'
import { registerWriter } from '../credits/batch-writer.ts'
import type { EndResult, HeldOperation } from '../credits/operation.ts'
import type { Tx } from '../db/database.ts'
import { emitEvents, type NewEvent } from '../events/emit.ts'
import type { Services } from '../services.ts'
import { countDecided } from './batches/finish.ts'
import { claimGatewayId } from './claim-store.ts'
import { type CodeKey, findCodeOf, removeCode } from './code-store.ts'
import { compareKeys } from './codes.ts'
import { deliveredEvent, failedEvent, sentEvent } from './events.ts'
import type { GuardedSmsGateway } from './gateways.ts'
import type { DeliveryStatus } from './port.ts'
import { findSuccessResponse } from './responses.ts'
import {
  findByOperation,
  findIdByGatewayId,
  findSend,
  lockSend,
  markUnconfirmed,
  type SendRecord,
  type SendStatus,
  updateStatuses,
} from './store.ts'

export interface SendDecisions {
  /** For the sweeper: decides an operation whose lease expired. Queries the gateway and never sends. */
  decideExpired(operation: HeldOperation): Promise<void>
  applyReceipt(gateway: string, status: DeliveryStatus): Promise<ReceiptResult>
}

/** `unknown`: it has only the gateway's id, and no record has that id, or not yet. */
export type ReceiptResult = 'changed' | 'unchanged' | 'unknown'

export function createSendDecisions(
  services: Services,
  gateways: readonly GuardedSmsGateway[],
): SendDecisions {
  const { config, db, credits, log } = services

  /**
   * Stores the delivery status and ends the operation if it is still open: accepted and delivered settle it, undelivered
   * refunds it. An ended operation stays as it is; the record shows the true status in any case. The first final status
   * counts, so repeated receipts change nothing.
   */
  async function apply(record: SendRecord, status: DeliveryStatus): Promise<boolean> {
    const isUndelivered = status.state === 'undelivered'
    if (record.charged === 1 && (record.state === 'sending' || record.state === 'unknown')) {
      // An ambiguous call has already stored its response. A crashed call has not, so its replay must report success.
      const { ended } = await credits.end({
        accountId: record.account_id,
        operationId: record.operation_id,
        end: { state: isUndelivered ? 'refunded' : 'settled' },
        response: isUndelivered ? undefined : await findSuccessResponse(db, record),
        minSends: 1,
        inSameTransaction: storeStatus({ status: statusOf(record.id, status, !isUndelivered), record }),
      })
      if (ended) return true
    }
    return db.write(async (tx) => {
      const locked = await lockSend(tx, record.id)
      if (!locked || !isNews(locked, status)) return false
      await storeStatuses(tx, [{ status: statusOf(locked.id, status, locked.charged === 1), record: locked }])
      return true
    })
  }

  /** Undefined when the query failed or took too long, or the gateway does not know the message. */
  async function queryStatus(record: SendRecord): Promise<DeliveryStatus | undefined> {
    const gateway = gateways.find(({ name }) => name === record.gateway)?.gateway
    if (!gateway?.queryStatus) return undefined
    const bizId = bizIdOf(record.id)
    const statuses = await gateway
      .queryStatus(
        {
          bizId,
          gatewayId: record.gateway_id ?? undefined,
          phone: record.phone,
          sentAt: record.sent_at ?? record.created_at,
        },
        AbortSignal.timeout(config.GATEWAY_TIMEOUT_MS),
      )
      .catch((error: unknown) => {
        log.warn(
          { err: error, gateway: gateway.name, operation: record.operation_id },
          'failed to query the status of a message',
        )
        return undefined
      })
    if (!statuses) return undefined
    const own = statuses.find((status) => status.bizId === bizId)
    if (own) return own
    // This vendor does not return our serial number: a message to this number without another record is this one.
    for (const status of statuses) {
      const { bizId: otherId, gatewayId } = status
      if (otherId !== undefined || gatewayId === undefined) continue
      const owner = await findIdByGatewayId(db, gateway.name, gatewayId)
      if (owner === record.id) return status
      if (owner !== undefined) continue
      if (await db.write((tx) => claimGatewayId(tx, record.id, { gateway: gateway.name, gatewayId })))
        return status
    }
    return undefined
  }

  async function decideExpired(operation: HeldOperation): Promise<void> {
    const record = await findByOperation(db, operation.id)
    const status = record && (await queryStatus(record))
    if (record && status) {
      await apply(record, status)
      return
    }
    await credits.end({
      accountId: operation.account_id,
      operationId: operation.id,
      end: { state: 'refunded', ifOverdue: true },
      inSameTransaction: record && storeUnconfirmed(record),
    })
  }

  async function applyReceipt(gateway: string, status: DeliveryStatus): Promise<ReceiptResult> {
    const { bizId, gatewayId } = status
    const ownId = bizId === undefined ? undefined : recordIdOf(bizId)
    const id =
      ownId ?? (gatewayId === undefined ? undefined : await findIdByGatewayId(db, gateway, gatewayId))
    if (id === undefined) return bizId === undefined ? 'unknown' : 'unchanged'
    const record = await findSend(db, id)
    // Vendors write the phone number with or without the country code.
    if (!record || record.gateway !== gateway || !status.phone.endsWith(record.phone)) return 'unchanged'
    return isNews(record, status) && (await apply(record, status)) ? 'changed' : 'unchanged'
  }

  return { decideExpired, applyReceipt }
}

function isNews(record: SendRecord, status: DeliveryStatus): boolean {
  // Still in the queue: no gateway can know it.
  if (record.batch_id !== null && record.sent_at === null) return false
  if (record.state === 'delivered' || record.state === 'undelivered') return false
  return record.state !== 'accepted' || status.state !== 'accepted'
}

function statusOf(id: number, { state, gatewayId, code }: DeliveryStatus, charged: boolean): SendStatus {
  const isUndelivered = state === 'undelivered'
  return {
    id,
    state,
    gatewayId,
    charged,
    problem: isUndelivered ? 'undelivered' : '',
    code: isUndelivered ? code : '',
    receiptCode: state === 'accepted' ? '' : code,
  }
}

/** A new status, and the record before it. */
interface StatusChange {
  readonly status: SendStatus
  readonly record: SendRecord
}

async function storeStatuses(tx: Tx, changes: readonly StatusChange[]): Promise<void> {
  await updateStatuses(
    tx,
    changes.map(({ status }) => status),
  )
  await emitEvents(tx, changes.flatMap(eventsOf))
}

function eventsOf({ status: { state }, record }: StatusChange): NewEvent[] {
  if (state === 'undelivered') return [failedEvent(record, 'undelivered')]
  const sent = record.state === 'accepted' ? [] : [sentEvent(record)]
  return state === 'delivered' ? [...sent, deliveredEvent(record)] : sent
}

const storeStatus = registerWriter<StatusChange, EndResult, void>(async (tx, items) => {
  const changes = endedItems(items)
  await storeStatuses(tx, changes)
  await removeUndelivered(tx, changes)
  await countDecided(
    tx,
    changes.map(({ record }) => record),
  )
})

/** Nobody got the one-time codes of these messages, and their credits are refunded: others may be sent at once. */
async function removeUndelivered(tx: Tx, changes: readonly StatusChange[]): Promise<void> {
  const codes: { key: CodeKey; operationId: number }[] = []
  for (const { status, record } of changes) {
    const key = status.state === 'undelivered' ? await findCodeOf(tx, record) : undefined
    if (key) codes.push({ key, operationId: record.operation_id })
  }
  for (const { key, operationId } of codes.toSorted((one, other) => compareKeys(one.key, other.key)))
    await removeCode(tx, key, operationId)
}

const storeUnconfirmed = registerWriter<SendRecord, EndResult, void>(async (tx, items) => {
  const records = endedItems(items)
  await markUnconfirmed(
    tx,
    records.map(({ id }) => id),
  )
  await emitEvents(
    tx,
    records.map((record) => failedEvent(record, 'unconfirmed')),
  )
  await countDecided(tx, records)
})

/** The others belong to operations that someone else has ended, together with their records. */
function endedItems<T>(items: readonly { readonly item: T; readonly result: EndResult }[]): T[] {
  return items.filter(({ result }) => result.ended).map(({ item }) => item)
}
