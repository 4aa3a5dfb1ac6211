// Runs a function many times with a fixed concurrency and measures rate and latencies.

export interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** wrk does not report it. */
  readonly p999?: number
  readonly calls: number
}

/** `work` is called `count` times, `inFlight` at a time; latencies are in milliseconds. */
export async function measure(
  count: number,
  inFlight: number,
  work: (index: number) => Promise<unknown>,
): Promise<Measured> {
  const latencies = new Float64Array(count)
  let next = 0
  async function runWorker(): Promise<void> {
    while (next < count) {
      const index = next
      next += 1
      const startedAt = performance.now()
      await work(index)
      latencies[index] = performance.now() - startedAt
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: inFlight }, runWorker))
  const seconds = (performance.now() - startedAt) / 1000
  return { perSecond: Math.round(count / seconds), ...percentiles(latencies), calls: count }
}

export function percentiles(latencies: Float64Array): Required<Pick<Measured, 'p50' | 'p99' | 'p999'>> {
  latencies.sort()
  const at = (part: number) => latencies[Math.floor(latencies.length * part)] ?? 0
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((x, y) => x - y)
  return sorted[Math.floor(sorted.length / 2)]!
}
