// Clicks are kept by whole hours. Shanghai is eight whole hours ahead, so its days begin on one.
export const shanghaiOffsetHours = 8
export const hoursPerDay = 24

const hourMs = 3_600_000

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
