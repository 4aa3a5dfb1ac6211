// The job that keeps the click tables small: old hours become days, the hashes of past days become a number.
import type { ClickWriter } from './writer.ts'
import { dayOfHour, firstHourOfDay, hourOf } from './hours.ts'

/** For so many days clicks can be shown by the hour; after that by the day. */
export const hourlyDays = 60

const everyMs = 3_600_000
/** Not in the first moments of a process, when there is enough to do. */
const firstMs = 60_000

export interface Tidying {
  start(): void
  stop(): void
}

export function openTidying(writer: ClickWriter, onError: (error: unknown) => void): Tidying {
  let timer: NodeJS.Timeout | undefined

  function next(ms: number): void {
    timer = setTimeout(() => {
      writer.run({ kind: 'tidy', ...boundsAt(Date.now()) }).catch(onError)
      next(everyMs)
    }, ms).unref()
  }

  return {
    start: () => next(firstMs),
    stop: () => clearTimeout(timer),
  }
}

/** A day is left alone for an hour after its end, until the last clicks of it are surely written. */
export function boundsAt(ms: number): { hoursBefore: number; visitorsBefore: number } {
  const now = hourOf(ms)
  return {
    hoursBefore: firstHourOfDay(dayOfHour(now) - hourlyDays),
    visitorsBefore: dayOfHour(now - 1),
  }
}
