// The thread that copies the pages of SQLite's log into the file, over its own connection.
import { fdatasyncSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { openConnection } from './sqlite-connection.ts'

export interface CheckpointRow {
  /** Pages in the log, and how many of them were copied. */
  readonly log: number
  readonly checkpointed: number
}

/** What the writer may copy in a commit. */
const maxRest = 64

/** Each pass copies what was written during the one before. */
const maxPasses = 8

export interface CheckpointThreadData {
  readonly file: string
  readonly descriptor: number
}

const { file, descriptor } = workerData as CheckpointThreadData
const { db } = openConnection(file, 0)
const copy = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')

parentPort?.on('message', () => {
  let copied = -1
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const { log, checkpointed } = copy.get() as unknown as CheckpointRow
    // SQLite syncs the file only when it has copied the whole log; then the writer would wait for all these pages.
    fdatasyncSync(descriptor)
    // A long read needs the rest.
    if (log - checkpointed <= maxRest || checkpointed === copied) break
    copied = checkpointed
  }
  parentPort?.postMessage('copied')
})
