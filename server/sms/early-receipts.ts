// Receipts that arrive before the response to the call that sends the message. Those that have only the gateway's id wait until the
// record has it too: vendors push within milliseconds, and none documents that it pushes again.
import type { Services } from '../services.ts'
import type { SendDecisions } from './decide.ts'
import { deleteEarlyReceipt, findRecordedReceipts, insertEarlyReceipts } from './early-receipt-store.ts'
import type { DeliveryStatus } from './port.ts'

const perRound = 500

export interface EarlyReceipts {
  /** Keeps receipts whose message is not known. */
  keep(gateway: string, statuses: readonly DeliveryStatus[]): Promise<void>
  /** Applies those whose message is recorded now. */
  apply(signal?: AbortSignal): Promise<void>
}

export function createEarlyReceipts(
  { db, log }: Pick<Services, 'db' | 'log'>,
  decisions: Pick<SendDecisions, 'applyReceipt'>,
): EarlyReceipts {
  async function keep(gateway: string, statuses: readonly DeliveryStatus[]): Promise<void> {
    const receipts = statuses.flatMap(({ gatewayId, phone, state, code }) =>
      gatewayId === undefined || state === 'accepted'
        ? []
        : { gateway, gateway_id: gatewayId, phone, state, code },
    )
    if (receipts.length === 0) return
    const left = await db.write((tx) => insertEarlyReceipts(tx, gateway, receipts))
    if (left > 0) log.warn({ gateway, receipts: left }, 'too many receipts of unknown messages')
  }

  async function apply(signal?: AbortSignal): Promise<void> {
    for (const receipt of await findRecordedReceipts(db.reports, perRound)) {
      if (signal?.aborted) return
      const { gateway, gateway_id: gatewayId, phone, state, code } = receipt
      // Another process may do the same: a receipt counts once.
      await decisions.applyReceipt(gateway, { bizId: undefined, gatewayId, phone, state, code })
      await db.write((tx) => deleteEarlyReceipt(tx, receipt))
    }
  }

  return { keep, apply }
}
