// Parses the items of a receipt push.
import { isRecord } from '../../../contract/values.ts'
import type { JsonObject } from '../../upstream/json.ts'
import type { DeliveryStatus, ParsedReceipts } from '../port.ts'

/** Skips malformed items, so that the other receipts count. A push without any readable item is malformed. */
export function parseReceipts(
  items: unknown,
  parse: (item: JsonObject) => DeliveryStatus | undefined,
): ParsedReceipts {
  if (!Array.isArray(items)) return { kind: 'malformed' }
  const statuses = items
    .map((item) => (isRecord(item) ? parse(item) : undefined))
    .filter((status) => status !== undefined)
  if (items.length > 0 && statuses.length === 0) return { kind: 'malformed' }
  return { kind: 'receipts', statuses }
}
