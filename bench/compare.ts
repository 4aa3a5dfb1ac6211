// Servers that take turns under the same load, so that a noisy moment of the machine meets all of them.
import { type Load, putLoad } from './load.ts'
import { type Measured, median } from './measure.ts'
import { cpuMsOf } from './processes.ts'
import type { Expectation, Part } from './report.ts'

export interface Contestant {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly engine?: string
  readonly workers?: number
  readonly note?: string
  /** What is promised of its speed and its p99, both as ratios to the reference. */
  readonly expects?: (ratio: number, p99Ratio: number) => readonly Expectation[]
}

type Turn = Measured & { readonly cpuMicros: number | undefined }

/**
 * Each round puts the load on the reference, then on the others. Ratios are medians of those of the rounds; those of the
 * others are returned in their order.
 */
export async function compare(
  part: Part,
  load: Omit<Load, 'url' | 'seconds'>,
  reference: Contestant,
  others: readonly Contestant[],
): Promise<number[]> {
  const everyone = [reference, ...others]
  const turns = new Map<Contestant, Turn[]>(everyone.map((one) => [one, []]))
  // Nobody is measured cold.
  if (!part.scale.quick) for (const one of everyone) await takeTurn(part, load, one)
  for (let round = 0; round < part.scale.rounds; round += 1) {
    for (const one of everyone) turns.get(one)!.push(await takeTurn(part, load, one))
  }
  const limit = turns.get(reference)!
  const ratios: number[] = []
  for (const one of everyone) {
    const mine = turns.get(one)!
    const ratioOf = (field: 'perSecond' | 'p99') =>
      median(mine.map((turn, round) => turn[field] / limit[round]![field]))
    const ratio = ratioOf('perSecond')
    if (one !== reference) ratios.push(ratio)
    const cpu = mine.map(({ cpuMicros }) => cpuMicros).filter((value) => value !== undefined)
    part.row({
      name: one.name,
      engine: one.engine,
      workers: one.workers,
      perSecond: Math.round(median(mine.map(({ perSecond }) => perSecond))),
      p50: median(mine.map(({ p50 }) => p50)),
      p99: median(mine.map(({ p99 }) => p99)),
      ...(one === reference
        ? {}
        : { ratio, ratioTo: reference.name, expected: one.expects?.(ratio, ratioOf('p99')) }),
      cpuMicros: cpu.length === 0 ? undefined : Math.round(median(cpu)),
      note: one.note,
    })
  }
  return ratios
}

async function takeTurn(part: Part, load: Omit<Load, 'url' | 'seconds'>, one: Contestant): Promise<Turn> {
  const before = cpuMsOf(one.pid)
  const measured = await putLoad({ ...load, url: one.url, seconds: part.scale.seconds })
  const after = cpuMsOf(one.pid)
  const known = before !== undefined && after !== undefined && measured.calls > 0
  return { ...measured, cpuMicros: known ? ((after - before) * 1000) / measured.calls : undefined }
}
