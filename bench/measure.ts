// Runs something many times with so many in flight, and tells how fast it went.

export interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

/** `work` is called `count` times, `inFlight` at a time; latencies are in milliseconds. */
export async function measure(
  count: number,
  inFlight: number,
  work: (index: number) => Promise<unknown>,
): Promise<Measured> {
  const latencies = new Float64Array(count)
  let next = 0
  async function lane(): Promise<void> {
    while (next < count) {
      const index = next
      next += 1
      const startedAt = performance.now()
      await work(index)
      latencies[index] = performance.now() - startedAt
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: inFlight }, lane))
  const seconds = (performance.now() - startedAt) / 1000
  latencies.sort()
  return {
    perSecond: Math.round(count / seconds),
    p50: latencies[Math.floor(count * 0.5)]!,
    p99: latencies[Math.floor(count * 0.99)]!,
  }
}

export function printRow(name: string, measured: Measured, note = ''): void {
  const rate = `${measured.perSecond.toLocaleString('en-US')}/s`.padStart(12)
  const tail = `p50 ${measured.p50.toFixed(2)} ms  p99 ${measured.p99.toFixed(2)} ms`
  process.stdout.write(`${name.padEnd(48)}${rate}   ${tail}   ${note}\n`)
}
