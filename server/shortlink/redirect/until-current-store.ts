// For processes that serve no links, such as the command line: waits until every process uses a committed change.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import { freshMs } from '../../db/notifications.ts'

/** On SQLite the next request uses it. On PostgreSQL a process that has not received it stops using its cache after this time. */
export async function untilLinksAreCurrent(db: Database): Promise<void> {
  if (!db.direct) await sleep(freshMs)
}
