// Checkpoints of SQLite's log: a thread copies the pages into the file and syncs it, which takes up to 150 ms. In a commit, every
// call would wait for that.
//
// The log starts again from its beginning only when all of it was copied. The thread cannot achieve this while commits go on, so
// the writer copies the last few pages.
import { Worker } from 'node:worker_threads'
import { openSync } from 'node:fs'
import type { CheckpointRow, CheckpointThreadData } from './checkpoint-thread.ts'
import { logSizeSql, type SqliteConnection } from './sqlite-connection.ts'

/** Pages in the log that start a checkpoint. Random codes change one page each: the longer the log, the less often each is written. */
export const maxPages = 4_000

/** Reading the size of the log takes 5 µs. */
export const commitsPerCheck = 16

const descriptors = new Map<string, number>()

/** Never closed: closing any descriptor of the file would release the locks that SQLite holds for this process. */
function descriptorOf(file: string): number {
  const descriptor = descriptors.get(file) ?? openSync(file, 'r+')
  descriptors.set(file, descriptor)
  return descriptor
}

export interface Checkpoints {
  onCommit(): void
  close(): Promise<void>
}

export function openCheckpoints(file: string, { db }: SqliteConnection): Checkpoints {
  const readSize = db.prepare(logSizeSql)
  const copyRest = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  let commits = 0
  let thread: Worker | undefined
  let state: 'idle' | 'copying' | 'copied' = 'idle'

  function startThread(): Worker {
    const started = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), {
      workerData: { file, descriptor: descriptorOf(file) } satisfies CheckpointThreadData,
      trackUnmanagedFds: false,
      resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
    })
    started.unref()
    started.on('message', () => void (state = 'copied'))
    const onEnd = () => {
      if (thread === started) thread = undefined
      state = 'idle'
    }
    // Also when its file is gone, because the release was replaced. The automatic checkpoint of a much longer log remains.
    started.on('error', onEnd)
    started.on('exit', onEnd)
    return started
  }

  function advance(): void {
    if (state === 'copied') {
      state = 'idle'
      copyRest.get()
    }
    commits += 1
    if (state !== 'idle' || commits % commitsPerCheck !== 0) return
    const { log, checkpointed } = readSize.get() as unknown as CheckpointRow
    if (log - checkpointed < maxPages) return
    thread ??= startThread()
    state = 'copying'
    thread.postMessage('copy')
  }

  return {
    onCommit() {
      try {
        advance()
      } catch {
        // The commit has succeeded. What the disk refuses now, it refuses the next commit, which reports it.
      }
    },
    async close() {
      await thread?.terminate()
    },
  }
}
