// Chooses where limits are counted: shared if there can be other processes; a single process on SQLite counts for itself.
import type { Database } from '../db/database.ts'
import { createLocalLimits, createSharedLimits, type Limits, type SharedOptions } from './limits.ts'
import type { LimitStore } from './port.ts'
import { createTableStore } from './table-store.ts'

export interface LimitOptions {
  readonly db: Database
  readonly redisUrl: string | undefined
  /** Keeps installations apart that share one Redis. */
  readonly name: string
  /** The counters that the workers of this machine share. */
  readonly workerStore: LimitStore | undefined
  readonly shared: SharedOptions
}

export async function createLimits(options: LimitOptions): Promise<Limits> {
  const { db, redisUrl, name, workerStore, shared } = options
  if (redisUrl) {
    // The Redis client is a fifth of all modules, and most services do not use it.
    const { openRedisStore } = await import('./redis.ts')
    return createSharedLimits(openRedisStore(redisUrl, name), shared)
  }
  if (db.isShared) return createSharedLimits(createTableStore(db), shared)
  return workerStore ? createSharedLimits(workerStore, shared) : createLocalLimits()
}
