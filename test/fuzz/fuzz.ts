// Runs generated cases against a service. A failing case is shrunk to the smallest case that still fails.
import fc, { type Arbitrary } from 'fast-check'
import type { Engine } from '../../server/db/database.ts'
import { apiCase } from './api-cases.ts'
import type { FuzzCase } from './case.ts'
import { consoleCase } from './console-cases.ts'
import { rawCase } from './raw-cases.ts'
import { openTarget } from './target.ts'

const fuzzCase: Arbitrary<FuzzCase> = fc.oneof(
  { weight: 12, arbitrary: apiCase },
  { weight: 8, arbitrary: consoleCase },
  { weight: 2, arbitrary: rawCase },
)

export interface FuzzReport {
  readonly engine: Engine
  readonly cases: number
  readonly seed: number
  readonly statuses: Readonly<Record<string, number>>
  readonly paid: number
}

/** Throws with the seed and the shrunken case if a check fails. */
export async function fuzz(engine: Engine, cases: number, seed: number): Promise<FuzzReport> {
  await using target = await openTarget(engine)
  await fc.assert(fc.asyncProperty(fuzzCase, target.runCase), {
    numRuns: cases,
    seed,
    includeErrorInReport: true,
  })
  await target.checkHealth()
  return { engine, cases, seed, ...target.seen }
}
