// Signed notifications that belong to no order of ours.
import type { PaymentProviderName } from '../../contract/payments.ts'
import type { Database, Tx } from '../db/database.ts'
import { deleteOlderThan } from '../db/time-ordered.ts'

const refusalKeepDays = 90

export async function insertRefusal(
  tx: Tx,
  refusal: { provider: PaymentProviderName; orderNumber: string; reason: string },
): Promise<void> {
  await tx.run(
    `INSERT INTO payment_refusal (at, provider, order_number, reason) VALUES (${tx.now}, ?, ?, ?)`,
    [refusal.provider, refusal.orderNumber, refusal.reason],
  )
}

export function deleteOldRefusals(db: Database, signal: AbortSignal): Promise<number> {
  return deleteOlderThan(db, { table: 'payment_refusal', time: 'at' }, refusalKeepDays, signal)
}
