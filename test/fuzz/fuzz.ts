// Fires so many cases at a service; what fails is shrunk to the smallest case that still does.
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

/** Throws with the seed and the shrunken case when one of them does what none may. */
export async function fuzz(engine: Engine, cases: number, seed: number): Promise<FuzzReport> {
  await using target = await openTarget(engine)
  await fc.assert(fc.asyncProperty(fuzzCase, target.fire), {
    numRuns: cases,
    seed,
    includeErrorInReport: true,
  })
  await target.checkUp()
  return { engine, cases, seed, ...target.seen }
}
