// What a fault is to the suite.
import type { Engine } from '../../server/db/database.ts'
import type { World } from './world.ts'

export interface Ground {
  readonly engine: Engine
  readonly seed: string
  readonly rounds: number
  readonly environment: Readonly<Record<string, string>>
  /** How long afterwards the world may take to come to rest. */
  readonly settleMs: number
}

export interface Fault {
  readonly name: string
  readonly text: string
  readonly engines: readonly Engine[]
  /** How often by itself, in the long run and in the short one. */
  readonly rounds: { readonly long: number; readonly short: number }
  /** Where it is part of the short run, which has to stay short: each fault at least once, where it bites most. */
  readonly shortOn: readonly Engine[]
  /** Why it cannot be done on this machine. */
  readonly impossible?: ((engine: Engine) => string | undefined) | undefined
  /** Opens a world, strikes, and hands the world over while it still stands: its invariants are checked next. */
  run(ground: Ground, check: (world: World, recoveries: readonly number[]) => Promise<void>): Promise<void>
}
