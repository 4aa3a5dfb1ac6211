// The two kinds of work on the click tables, for whichever connection does it.
import type { Database } from '../db/database.ts'
import { addClicks, type ClickBatch, foldVisitors, rollHours } from './click-store.ts'

export type ClickJob =
  | { readonly kind: 'add'; readonly batch: ClickBatch }
  /** Hours before `hoursBefore` become days; visitors of days before `visitorsBefore` become a number. */
  | { readonly kind: 'tidy'; readonly hoursBefore: number; readonly visitorsBefore: number }

export async function runClickJob(db: Database, job: ClickJob): Promise<void> {
  if (job.kind === 'add') return db.write((tx) => addClicks(tx, job.batch))
  while (await db.write((tx) => foldVisitors(tx, job.visitorsBefore)));
  let after: number | undefined = 0
  while (after !== undefined) {
    const from: number = after
    after = await db.write((tx) => rollHours(tx, job.hoursBefore, from))
  }
}
