// The daily health of the service: in how many minutes of a day each part was checked, and in how many it failed.
import type { Queries, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'

export type HealthDay = Readonly<Pick<Tables['health_day'], 'day' | 'part' | 'samples' | 'failed'>>

/** A minute counts once, whichever process checks first. */
export async function addHealthSample(
  tx: Tx,
  sample: { readonly day: string; readonly part: string; readonly failed: boolean; readonly minute: number },
): Promise<void> {
  await tx.run(
    `INSERT INTO health_day (day, part, samples, failed, last_minute) VALUES (?, ?, 1, ?, ?)
     ON CONFLICT (day, part) DO UPDATE SET samples = health_day.samples + 1, failed = health_day.failed + excluded.failed,
       last_minute = excluded.last_minute WHERE health_day.last_minute < excluded.last_minute`,
    [sample.day, sample.part, sample.failed ? 1 : 0, sample.minute],
  )
}

export function findHealthDays(queries: Queries, fromDay: string): Promise<HealthDay[]> {
  return queries.all<HealthDay>(
    'SELECT day, part, samples, failed FROM health_day WHERE day >= ? ORDER BY day',
    [fromDay],
  )
}

export async function deleteHealthBefore(tx: Tx, day: string): Promise<void> {
  await tx.run('DELETE FROM health_day WHERE day < ?', [day])
}
