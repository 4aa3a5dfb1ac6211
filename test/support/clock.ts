// A clock that stands still until the test sets it, for code that takes its time from the database.
import type { Database, Queries } from '../../server/db/database.ts'

export interface StoppedClock {
  /** Milliseconds since 1970. */
  now: number
}

/** The same database, by another clock. */
export function withClock(db: Database, clock: StoppedClock): Database {
  const byClock = <Q extends Queries>(queries: Q): Q =>
    Object.defineProperty({ ...queries }, 'now', { get: () => `CAST(${clock.now} AS bigint)` })
  return byClock({ ...db, write: (job) => db.write((tx) => job(byClock(tx))) })
}
