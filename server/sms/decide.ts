// Decides open operations by the delivery status from a receipt or a status query, or refunds them after the lease.
import { bizIdOf, recordIdOf } from '../../contract/sms-text.ts'
import type { HeldOperation } from '../credits/operation.ts'
import type { Tx } from '../db/database.ts'
import type { Services } from '../services.ts'
import type { GuardedSmsGateway } from './gateways.ts'
import type { DeliveryStatus } from './port.ts'
import { findSuccessResponse } from './responses.ts'
import {
  findByOperation,
  findIdByGatewayId,
  lockSend,
  markFailed,
  type SendRecord,
  updateStatus,
} from './store.ts'

export interface SendDecisions {
  /** For the sweeper: decides an operation whose lease expired. Queries the gateway and never sends. */
  decideExpired(operation: HeldOperation): Promise<void>
  /** Returns whether the receipt changed anything. */
  applyReceipt(gateway: string, status: DeliveryStatus): Promise<boolean>
}

export function createSendDecisions(
  services: Services,
  gateways: readonly GuardedSmsGateway[],
): SendDecisions {
  const { db, credits, log } = services

  /**
   * Stores the delivery status and ends the operation if it is still open: accepted and delivered settle it, undelivered
   * refunds it. An ended operation stays as it is; the record shows the true status in any case. The first final status
   * counts, so repeated receipts change nothing.
   */
  async function apply(tx: Tx, record: SendRecord, status: DeliveryStatus): Promise<boolean> {
    if (record.state === 'delivered' || record.state === 'undelivered') return false
    if (record.state === 'accepted' && status.state === 'accepted') return false
    const isUndelivered = status.state === 'undelivered'
    let charged = record.charged === 1
    if (charged && (record.state === 'sending' || record.state === 'unknown')) {
      // An ambiguous call has already responded. A crashed call has not, so its replay must report success.
      const hasCrashed = record.state === 'sending'
      const result = await credits.end(tx, {
        operationId: record.operation_id,
        end: { state: isUndelivered ? 'refunded' : 'settled' },
        response: hasCrashed && !isUndelivered ? await findSuccessResponse(tx, record) : undefined,
        sends: hasCrashed ? 1 : 0,
      })
      if (result.ended) charged = !isUndelivered
    }
    await updateStatus(tx, record.id, {
      state: status.state,
      gatewayId: status.gatewayId ?? null,
      charged,
      problem: isUndelivered ? 'undelivered' : '',
      code: isUndelivered ? status.code : '',
    })
    return true
  }

  /** Undefined when the query failed or the gateway does not know the message. */
  async function queryStatus(record: SendRecord): Promise<DeliveryStatus | undefined> {
    const gateway = gateways.find(({ name }) => name === record.gateway)?.gateway
    if (!gateway?.queryStatus) return undefined
    const bizId = bizIdOf(record.id)
    const statuses = await gateway
      .queryStatus({
        bizId,
        gatewayId: record.gateway_id ?? undefined,
        phone: record.phone,
        sentAt: record.created_at,
      })
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
      if (status.bizId !== undefined || status.gatewayId === undefined) continue
      const owner = await findIdByGatewayId(db, gateway.name, status.gatewayId)
      if (owner === undefined || owner === record.id) return status
    }
    return undefined
  }

  async function decideExpired(operation: HeldOperation): Promise<void> {
    const found = await findByOperation(db, operation.id)
    const status = found && (await queryStatus(found))
    await db.write(async (tx) => {
      const record = found && (await lockSend(tx, found.id))
      if (record && status) {
        await apply(tx, record, status)
        return
      }
      const result = await credits.end(tx, { operationId: operation.id, end: { state: 'refunded' } })
      if (result.ended && record) {
        await markFailed(tx, record.id, {
          state: 'unknown',
          charged: false,
          problem: 'unconfirmed',
          code: record.problem_code,
        })
      }
    })
  }

  async function applyReceipt(gateway: string, status: DeliveryStatus): Promise<boolean> {
    const { bizId, gatewayId } = status
    return db.write(async (tx) => {
      const id =
        (bizId === undefined ? undefined : recordIdOf(bizId)) ??
        (gatewayId === undefined ? undefined : await findIdByGatewayId(tx, gateway, gatewayId))
      const record = id === undefined ? undefined : await lockSend(tx, id)
      // Vendors write the phone number with or without the country code.
      if (!record || record.gateway !== gateway || !status.phone.endsWith(record.phone)) return false
      return apply(tx, record, status)
    })
  }

  return { decideExpired, applyReceipt }
}
