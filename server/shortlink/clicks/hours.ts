// Whole hours and Shanghai days since 1970. Shanghai is eight whole hours ahead of UTC, so its days start with an hour.
import { hourMs, shanghaiOffsetMs } from '../../../contract/time.ts'

export const shanghaiOffsetHours = shanghaiOffsetMs / hourMs
export const hoursPerDay = 24

export function hourOf(ms: number): number {
  return Math.floor(ms / hourMs)
}

export function dayOfHour(hour: number): number {
  return Math.floor((hour + shanghaiOffsetHours) / hoursPerDay)
}

export function firstHourOfDay(day: number): number {
  return day * hoursPerDay - shanghaiOffsetHours
}
