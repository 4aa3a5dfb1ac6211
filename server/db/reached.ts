// Times that a row waits for, when the clock is set back.
import type { Queries } from './database.ts'

/**
 * Whether the time in a column has come. One that is further away than `maxMs`, the longest that a row ever waits, is from before
 * the clock was set back, for example on a machine whose hardware clock has the local time.
 */
export function isReached({ now }: Pick<Queries, 'now'>, column: string, maxMs: number): string {
  return `(${column} <= ${now} OR ${column} > ${now} + ${maxMs})`
}
