// Clicks are kept by whole hours. Shanghai is eight whole hours ahead, so its days begin on one.
import { hourMs, shanghaiOffsetMs } from '../../../contract/time.ts'

export const shanghaiOffsetHours = shanghaiOffsetMs / hourMs
export const hoursPerDay = 24

/** Hours since 1970. */
export function hourOf(ms: number): number {
  return Math.floor(ms / hourMs)
}

/** Days of Shanghai since 1970. */
export function dayOfHour(hour: number): number {
  return Math.floor((hour + shanghaiOffsetHours) / hoursPerDay)
}

export function firstHourOfDay(day: number): number {
  return day * hoursPerDay - shanghaiOffsetHours
}
