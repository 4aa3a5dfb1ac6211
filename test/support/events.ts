// Events for tests of their delivery.
import type { Database, Tx } from '../../server/db/database.ts'
import { emitEvents } from '../../server/events/emit.ts'
import { insertEndpoint } from '../../server/events/store.ts'

/** Emits events of one account that differ in their number and are all delivered. */
export function emitNumbered(db: Database, accountId: number, count: number): Promise<unknown> {
  const events = Array.from({ length: count }, (_, n) => ({
    accountId,
    type: 'key.reset' as const,
    data: { n },
    alertKey: `key.reset ${n}`,
  }))
  return db.write((tx) => emitEvents(tx, events))
}

export const webhookUrl = 'https://example.com/webhook'

/** A webhook that receives all events. Returns its id. */
export function insertWebhook(tx: Tx, accountId: number): Promise<number> {
  return insertEndpoint(tx, {
    account_id: accountId,
    kind: 'webhook',
    url: webhookUrl,
    event_types: '*',
    secret: null,
    state: 'active',
    language: 'zh',
    confirm_hash: null,
  })
}
