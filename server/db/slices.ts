// Runs a large change in small transactions, so that paid calls never wait for it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Job } from './database.ts'

/** Rows of one slice: a few milliseconds on SQLite, where all writes share one connection. */
export const rowsPerSlice = 500

/** Other writers run between two slices. */
const pauseMs = 20

/** Runs `slice` until it returns false, which means that nothing is left, or until the signal aborts. */
export async function writeInSlices(db: Database, slice: Job<boolean>, signal?: AbortSignal): Promise<void> {
  while (signal?.aborted !== true && (await db.write(slice))) {
    await sleep(pauseMs, undefined, { ref: false })
  }
}
