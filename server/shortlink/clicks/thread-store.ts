// The thread that writes clicks, over a connection of its own.
import { parentPort, workerData } from 'node:worker_threads'
import type { Engine } from '../../db/database.ts'
import { openPostgres } from '../../db/postgres.ts'
import { openSqlite } from '../../db/sqlite.ts'
import { type ClickJob, runClickJob } from './job-store.ts'

export interface ThreadData {
  readonly engine: Engine
  readonly place: string
}

export interface ThreadRequest {
  readonly id: number
  /** Undefined asks the thread to close the file: it is about to be ended. */
  readonly job: ClickJob | undefined
}

export interface ThreadAnswer {
  readonly id: number
  readonly problem: string | undefined
  readonly next: number | undefined
}

const port = parentPort
if (port) {
  const { engine, place } = workerData as ThreadData
  const db = engine === 'sqlite' ? openSqlite(place) : openPostgres(place, { poolSize: 1 })
  port.on('message', ({ id, job }: ThreadRequest) => {
    const answer = (problem: string | undefined, next: number | undefined) =>
      port.postMessage({ id, problem, next } satisfies ThreadAnswer)
    const work = job === undefined ? db.close().then(() => undefined) : runClickJob(db, job)
    work.then(
      (next) => answer(undefined, next),
      (error: unknown) => answer(error instanceof Error ? error.message : 'failed', undefined),
    )
  })
}
