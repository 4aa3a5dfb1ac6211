// Runs several servers in turn under the same load, so that other load of the machine affects all of them.
import { runLoad, type SameLoad } from './load.ts'
import { type Measured, median } from './measure.ts'
import { cpuMsOf } from './processes.ts'
import type { Expectation, Part } from './report.ts'

export interface Candidate {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly engine?: string
  readonly workers?: number
  readonly note?: string
  /** Expectations for its speed and its p99, both as ratios to the reference. */
  readonly expects?: (ratio: number, p99Ratio: number) => readonly Expectation[]
}

type RoundResult = Measured & { readonly cpuMicros: number | undefined }

/** Each round measures the reference, then the others. Returns the median ratio of each of the others, in their order. */
export async function compare(
  part: Part,
  load: SameLoad,
  reference: Candidate,
  others: readonly Candidate[],
): Promise<number[]> {
  const candidates = [reference, ...others]
  const rounds = new Map<Candidate, RoundResult[]>(candidates.map((one) => [one, []]))
  // Warm-up.
  if (!part.scale.quick) for (const one of candidates) await measureOnce(part, load, one)
  for (let round = 0; round < part.scale.rounds; round += 1) {
    for (const one of candidates) rounds.get(one)!.push(await measureOnce(part, load, one))
  }
  const referenceRounds = rounds.get(reference)!
  const ratios: number[] = []
  for (const one of candidates) {
    const results = rounds.get(one)!
    const ratioOf = (field: 'perSecond' | 'p99') =>
      median(results.map((result, round) => result[field] / referenceRounds[round]![field]))
    const ratio = ratioOf('perSecond')
    if (one !== reference) ratios.push(ratio)
    const cpu = results.map(({ cpuMicros }) => cpuMicros).filter((value) => value !== undefined)
    part.row({
      name: one.name,
      engine: one.engine,
      workers: one.workers,
      perSecond: Math.round(median(results.map(({ perSecond }) => perSecond))),
      p50: median(results.map(({ p50 }) => p50)),
      p99: median(results.map(({ p99 }) => p99)),
      ...(one === reference
        ? {}
        : { ratio, ratioTo: reference.name, expected: one.expects?.(ratio, ratioOf('p99')) }),
      cpuMicros: cpu.length === 0 ? undefined : Math.round(median(cpu)),
      note: one.note,
    })
  }
  return ratios
}

async function measureOnce(part: Part, load: SameLoad, one: Candidate): Promise<RoundResult> {
  const before = cpuMsOf(one.pid)
  const measured = await runLoad({ ...load, url: one.url, seconds: part.scale.seconds })
  const after = cpuMsOf(one.pid)
  const known = before !== undefined && after !== undefined && measured.calls > 0
  return { ...measured, cpuMicros: known ? ((after - before) * 1000) / measured.calls : undefined }
}
