// The kinds of work on the click tables, for whichever connection does it.
import type { Database } from '../../db/database.ts'
import { type ClickBatch, combine } from './batch.ts'
import { foldAll, foldStep, noteClicks } from './journal-store.ts'
import { addClicks, foldVisitors, hashVisitors, rollHours } from './store.ts'

export type ClickJob =
  /** Into the counters. */
  | { readonly kind: 'add'; readonly batch: ClickBatch<string> }
  /** Into the journal. */
  | { readonly kind: 'note'; readonly batch: ClickBatch<string> }
  /** A step from the journal into the counters; `upTo` is what the step before answered. */
  | { readonly kind: 'fold'; readonly upTo: number | undefined }
  /** Hours before `hoursBefore` become days; visitors of days before `visitorsBefore` become a number. */
  | { readonly kind: 'tidy'; readonly hoursBefore: number; readonly visitorsBefore: number }

/** Only folding goes on in steps: it answers with what the next one needs, undefined when it was the last. */
export async function runClickJob(db: Database, job: ClickJob): Promise<number | undefined> {
  switch (job.kind) {
    case 'add': {
      const { batch } = combine([job.batch])
      await db.write(async (tx) => addClicks(tx, await hashVisitors(tx, batch)))
      return undefined
    }
    case 'note':
      await db.write((tx) => noteClicks(tx, job.batch))
      return undefined
    case 'fold':
      return foldStep(db, job.upTo)
    case 'tidy':
      await tidy(db, job.hoursBefore, job.visitorsBefore)
      return undefined
  }
}

async function tidy(db: Database, hoursBefore: number, visitorsBefore: number): Promise<void> {
  // What a process left behind that was killed and never came back.
  await foldAll(db)
  while (await db.write((tx) => foldVisitors(tx, visitorsBefore)));
  let after: number | undefined = 0
  while (after !== undefined) {
    const from: number = after
    after = await db.write((tx) => rollHours(tx, hoursBefore, from))
  }
}
