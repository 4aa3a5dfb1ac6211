// Records of messages go when they are older than the setting says.
import type { Database } from '../db/database.ts'
import { deleteOlderThan } from '../db/delete-old-rows.ts'

export function deleteOldSends(db: Database, days: number, signal: AbortSignal): Promise<number> {
  return deleteOlderThan(db, { table: 'sms_send', time: 'created_at' }, days, signal)
}
