// The thread that does all work on the click tables, over its own database connection.
import { parentPort, workerData } from 'node:worker_threads'
import type { Database } from '../../db/database.ts'
import { type DatabaseLocation, openAgain } from '../../db/open-again.ts'
import { compactHeap } from '../../compact-heap.ts'
import { createLocator, type Locate, type PlaceFiles } from '../../places/places.ts'
import { deleteClicksOfDeleted } from './deleted-store.ts'
import { appendVisits, deleteOldBatches, foldStep } from './journal-store.ts'
import { unknownPlace } from '../../places/regions.ts'
import { countVisitors, findHoursToMerge, rollUpHours } from './store.ts'
import { clientOf } from './user-agents.ts'
import { toRows, type VisitBatch } from './visit-buffer.ts'

export type ClickJob =
  /** Does nothing: its response shows that the code of the thread is loaded. */
  | { readonly kind: 'load' }
  | { readonly kind: 'append'; readonly batch: VisitBatch }
  /** One step from the journal into the counters; `upTo` is the result of the step before. */
  | { readonly kind: 'fold'; readonly upTo: number | undefined }
  /** One step of replacing the visitors of days before `before` by their number. */
  | { readonly kind: 'countVisitors'; readonly before: number }
  /** One step of merging hours before `before` into days; `after` is the result of the step before. */
  | { readonly kind: 'rollUpHours'; readonly before: number; readonly after: number }
  /** One step of deleting the clicks of deleted links. */
  | { readonly kind: 'deleteClicks' }

/** Resolves when the work is durable. Work in steps returns a number to continue with, and undefined after the last step. */
export async function runClickJob(
  db: Database,
  job: ClickJob,
  locate: Locate = () => unknownPlace,
): Promise<number | undefined> {
  switch (job.kind) {
    case 'load':
      return undefined
    case 'append':
      await append(db, job.batch, locate)
      return undefined
    case 'fold':
      return foldStep(db, job.upTo)
    case 'countVisitors':
      return db.write(async (tx) => {
        await deleteOldBatches(tx)
        return countVisitors(tx, job.before)
      })
    case 'rollUpHours': {
      const { found, next } = await findHoursToMerge(db, job.before, job.after)
      return found ? db.write((tx) => rollUpHours(tx, job.before, job.after)) : next
    }
    case 'deleteClicks':
      return db.write(deleteClicksOfDeleted)
  }
}

async function append(db: Database, batch: VisitBatch, locate: Locate): Promise<void> {
  // Before the transaction: other writers wait for its end.
  const visits = toRows(batch.visits)
  const places = visits.map(({ agent, isPrefetch, address }) =>
    clientOf(agent, isPrefetch).kind === 'person' ? locate(address) : unknownPlace,
  )
  await db.write((tx) => appendVisits(tx, batch.id, visits, places))
}

export interface ClickThreadData extends DatabaseLocation {
  readonly places: PlaceFiles
}

export interface ThreadRequest {
  readonly id: number
  /** Undefined closes the database: the thread is about to be terminated. */
  readonly job: ClickJob | undefined
}

export interface ThreadResponse {
  readonly id: number
  readonly error: string | undefined
  readonly result: number | undefined
}

const port = parentPort
if (port) {
  const { places, ...database } = workerData as ClickThreadData
  const db = await openAgain(database)
  const locate = createLocator(places)
  compactHeap()
  port.on('message', ({ id, job }: ThreadRequest) => {
    const respond = (error: string | undefined, result: number | undefined) =>
      port.postMessage({ id, error, result } satisfies ThreadResponse)
    const work = job === undefined ? db.close().then(() => undefined) : runClickJob(db, job, locate)
    work.then(
      (result) => respond(undefined, result),
      (error: unknown) => respond(error instanceof Error ? error.message : 'failed', undefined),
    )
  })
}
