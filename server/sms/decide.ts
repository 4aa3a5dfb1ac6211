// Decides open operations by the delivery status from a receipt or a status query, or refunds them after the lease.
import { bizIdOf, recordIdOf } from '../../contract/sms-text.ts'
import { registerWriter } from '../credits/batch-writer.ts'
import type { EndResult, HeldOperation } from '../credits/operation.ts'
import type { Services } from '../services.ts'
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
  /** Returns whether the receipt changed anything. */
  applyReceipt(gateway: string, status: DeliveryStatus): Promise<boolean>
}

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
        inSameTransaction: storeStatus(statusOf(record.id, status, !isUndelivered)),
      })
      if (ended) return true
    }
    return db.write(async (tx) => {
      const locked = await lockSend(tx, record.id)
      if (!locked || !isNews(locked, status)) return false
      await updateStatuses(tx, [statusOf(locked.id, status, locked.charged === 1)])
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
          sentAt: record.created_at,
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
      if (status.bizId !== undefined || status.gatewayId === undefined) continue
      const owner = await findIdByGatewayId(db, gateway.name, status.gatewayId)
      if (owner === undefined || owner === record.id) return status
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
      end: { state: 'refunded' },
      inSameTransaction: record && storeUnconfirmed(record.id),
    })
  }

  async function applyReceipt(gateway: string, status: DeliveryStatus): Promise<boolean> {
    const { bizId, gatewayId } = status
    const id =
      (bizId === undefined ? undefined : recordIdOf(bizId)) ??
      (gatewayId === undefined ? undefined : await findIdByGatewayId(db, gateway, gatewayId))
    const record = id === undefined ? undefined : await findSend(db, id)
    // Vendors write the phone number with or without the country code.
    if (!record || record.gateway !== gateway || !status.phone.endsWith(record.phone)) return false
    return isNews(record, status) && apply(record, status)
  }

  return { decideExpired, applyReceipt }
}

function isNews(record: SendRecord, status: DeliveryStatus): boolean {
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
  }
}

const storeStatus = registerWriter<SendStatus, EndResult, void>((tx, items) =>
  updateStatuses(tx, endedItems(items)),
)

const storeUnconfirmed = registerWriter<number, EndResult, void>((tx, items) =>
  markUnconfirmed(tx, endedItems(items)),
)

/** The others belong to operations that someone else has ended, together with their records. */
function endedItems<T>(items: readonly { readonly item: T; readonly result: EndResult }[]): T[] {
  return items.filter(({ result }) => result.ended).map(({ item }) => item)
}
