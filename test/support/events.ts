// Events for tests of their delivery.
import type { Database } from '../../server/db/database.ts'
import { emitEvents } from '../../server/events/emit.ts'

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
