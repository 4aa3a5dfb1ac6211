// How many rows a slice of an import has: as many as take no longer than the event loop may work on them.

export interface SliceSize {
  rows(): number
  /** After a slice: its number of rows, and how long they took. */
  record(count: number, ms: number): void
  /** After a slice that costs more credits than there are. */
  halve(): void
}

const limits = { first: 100, min: 50, max: 1_000 }

export function createSliceSize(targetMs: number): SliceSize {
  let rows = limits.first
  const between = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value))
  return {
    rows: () => rows,
    record(count, ms) {
      const fitting = Math.round((count * targetMs) / Math.max(ms, 0.1))
      // At most half or twice as many: the time of one slice may include other calls.
      rows = between(between(fitting, Math.ceil(rows / 2), rows * 2), limits.min, limits.max)
    },
    halve() {
      rows = Math.max(1, Math.floor(rows / 2))
    },
  }
}
