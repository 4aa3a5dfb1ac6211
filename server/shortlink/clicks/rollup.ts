// The job that keeps the click tables small: old hours become days, visitor hashes of past days become a number.
import { setTimeout as sleep } from 'node:timers/promises'
import { hourMs, minuteMs } from '../../../contract/time.ts'
import type { JobFunction } from '../../jobs.ts'
import { dayOfHour, firstHourOfDay, hourOf } from './hours.ts'
import type { ClickWriter } from './writer.ts'

/** Clicks of this many days are stored by hour, older ones by day. */
export const hourlyDays = 60

export const rollupEveryMs = hourMs

/** A process that has just started has more urgent work. */
const firstRollupMs = minuteMs

export function createRollupJob(run: ClickWriter['run']): JobFunction {
  let isFirst = true
  let mergedBefore: number | undefined
  return async (signal) => {
    if (isFirst) await sleep(firstRollupMs, undefined, { signal, ref: false })
    isFirst = false
    const now = Date.now()
    const { hoursBefore } = rollupBounds(now)
    // Reads the counters of all links, so it does not run again before there is another day to merge.
    const mergesHours = hoursBefore !== mergedBefore
    await rollUpClicks(run, now, { signal, mergesHours })
    if (!signal.aborted) mergedBefore = hoursBefore
  }
}

/** Also folds what is left in the journal by a process that was killed. Stops between two steps when aborted. */
export async function rollUpClicks(
  run: ClickWriter['run'],
  nowMs: number,
  { signal, mergesHours = true }: { readonly signal?: AbortSignal; readonly mergesHours?: boolean } = {},
): Promise<void> {
  const { hoursBefore, visitorsBefore } = rollupBounds(nowMs)
  const isAborted = () => signal?.aborted === true
  let next: number | undefined
  do next = await run({ kind: 'fold', upTo: next })
  while (next !== undefined && !isAborted())
  do next = await run({ kind: 'countVisitors', before: visitorsBefore })
  while (next !== undefined && !isAborted())
  next = mergesHours ? 0 : undefined
  while (next !== undefined && !isAborted())
    next = await run({ kind: 'rollUpHours', before: hoursBefore, after: next })
  do next = await run({ kind: 'deleteClicks' })
  while (next !== undefined && !isAborted())
}

/** Visitors of a day are counted an hour after its end, when its last clicks are in the journal. */
export function rollupBounds(ms: number): { hoursBefore: number; visitorsBefore: number } {
  const now = hourOf(ms)
  return {
    hoursBefore: firstHourOfDay(dayOfHour(now) - hourlyDays),
    visitorsBefore: dayOfHour(now - 1),
  }
}
