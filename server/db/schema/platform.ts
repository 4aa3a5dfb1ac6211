// The tables of the installation and of shared limits.
import type { CalendarDay, Milliseconds } from './columns.ts'

export interface PlatformTables {
  migration: {
    name: string
    applied_at: Milliseconds
    /** The oldest version that works with it; null: versions that know it. */
    oldest_version: string | null
  }
  service_process: {
    id: string
    version: string
    /** The maximum number of connections that it opens to the database. */
    connections: number
    seen_at: Milliseconds
  }
  /** Facts about the installation, by name. */
  setting: { name: string; value: string }
  /** In how many minutes of a day a part of the service was checked, and in how many it failed. */
  health_day: {
    day: CalendarDay
    part: string
    samples: number
    failed: number
    /** The minute of the last sample, since 1970, so that several processes count a minute once. */
    last_minute: number
  }
  /** PostgreSQL only. */
  limit_bucket: LimitBucketTable
  /** PostgreSQL only. */
  limit_window: { key: string; attempts: number; started_at: Milliseconds; ends_at: Milliseconds }
}

interface LimitBucketTable {
  account_id: number
  /** Thousandths of tokens, so that what a millisecond adds is a whole number. */
  milli_tokens: number
  updated_at: Milliseconds
  per_second: number
  burst: number
  requested: number
  granted: number
}
