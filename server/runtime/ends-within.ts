// A limit on how long a stop waits.
import { setTimeout as sleep } from 'node:timers/promises'

/** Whether the work has ended within this time. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const waiting = new AbortController()
  try {
    const isOver = sleep(Math.max(0, ms), false, { signal: waiting.signal })
    return await Promise.race([work.then(() => true), isOver])
  } finally {
    waiting.abort()
  }
}
