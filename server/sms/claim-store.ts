// Finds the record of a message that its vendor names only by an id of its own.
import type { Tx } from '../db/database.ts'
import { lock } from '../db/dialect.ts'
import { findIdByGatewayId } from './store.ts'

/** Any number, the same in every process. */
const claimLock = 7_402_320

/** Gives the vendor's message to a record that is not decided yet; false when it belongs to another one. */
export async function claimGatewayId(
  tx: Tx,
  id: number,
  { gateway, gatewayId }: { readonly gateway: string; readonly gatewayId: string },
): Promise<boolean> {
  // Two records that are decided at the same time would both find that nobody has the message.
  await lock(tx, claimLock)
  const owner = await findIdByGatewayId(tx, gateway, gatewayId)
  if (owner !== undefined) return owner === id
  const changed = await tx.run(
    `UPDATE sms_send SET gateway_id = ? WHERE id = ? AND state IN ('sending', 'unknown')`,
    [gatewayId, id],
  )
  return changed === 1
}
