// Parses the items of a push: receipts and replies.
import { createHash } from 'node:crypto'
import { isRecord } from '../../../contract/values.ts'
import { idText, type JsonObject } from '../../upstream/json.ts'
import type { DeliveryStatus, IncomingReply, ParsedReceipts } from '../port.ts'

interface ItemParsers {
  readonly receipt: (item: JsonObject) => DeliveryStatus | undefined
  readonly reply: (item: JsonObject) => IncomingReply | undefined
}

/** Skips malformed items, so that the others count. A push without any readable item is malformed. */
export function parseItems(items: unknown, parsers: ItemParsers): ParsedReceipts {
  if (!Array.isArray(items)) return { kind: 'malformed' }
  const statuses: DeliveryStatus[] = []
  const replies: IncomingReply[] = []
  for (const item of items) {
    if (!isRecord(item)) continue
    const reply = parsers.reply(item)
    if (reply) replies.push(reply)
    else {
      const status = parsers.receipt(item)
      if (status) statuses.push(status)
    }
  }
  if (items.length > 0 && statuses.length === 0 && replies.length === 0) return { kind: 'malformed' }
  return { kind: 'receipts', statuses, replies }
}

/** Undefined without a phone number and a text. `id` is the vendor's; without one, equal facts are the same reply. */
export function readReply(fields: {
  readonly phone: unknown
  readonly content: unknown
  readonly signName: unknown
  readonly id: unknown
  readonly facts: readonly unknown[]
}): IncomingReply | undefined {
  const phone = idText(fields.phone)
  const { content } = fields
  if (phone === undefined || phone.length > 32 || typeof content !== 'string') return undefined
  const sequence =
    idText(fields.id) ??
    createHash('sha256')
      .update(JSON.stringify([phone, content, ...fields.facts]))
      .digest('base64url')
  // Some vendors write the brackets too.
  const signName = idText(fields.signName)?.replace(/^【(.*)】$/u, '$1')
  return { phone, content, signName: signName || undefined, sequence }
}
