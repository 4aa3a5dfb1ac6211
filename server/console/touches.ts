// When a session or a token was last used: writes that no answer waits for.
import type { Database, Job } from '../db/database.ts'

export interface Touches {
  /** Writes in the background, unless the last write of this key has not ended yet. */
  touch(key: string, write: Job<void>): void
  /** Resolves when nothing is being written. */
  idle(): Promise<void>
}

export function createTouches(db: Database, onError: (error: unknown) => void): Touches {
  const running = new Map<string, Promise<void>>()
  return {
    touch(key, write) {
      if (running.has(key)) return
      const written = db
        .write(write)
        .catch(onError)
        .finally(() => running.delete(key))
      running.set(key, written)
    },
    async idle() {
      await Promise.all(running.values())
    },
  }
}
