// The interface of a fault.
import type { Engine } from '../../server/db/database.ts'
import type { TestSystem } from './test-system.ts'

export interface FaultContext {
  readonly engine: Engine
  readonly seed: string
  readonly rounds: number
  readonly environment: Readonly<Record<string, string>>
  /** Max time after the fault until no operation is held. */
  readonly settleMs: number
  /** An empty database to use instead of one on the durable server: enough where PostgreSQL itself is not killed. */
  readonly databaseUrl?: string | undefined
}

export interface Fault {
  readonly name: string
  readonly text: string
  readonly engines: readonly Engine[]
  /** Default number of rounds in the long and in the short run. */
  readonly rounds: { readonly long: number; readonly short: number }
  /** Engines of the short run. Most faults run on one engine only, to keep it short. */
  readonly shortOn: readonly Engine[]
  /** Returns why the fault cannot be injected on this machine. */
  readonly skipReason?: ((engine: Engine) => string | undefined) | undefined
  /** Opens a system, injects the fault and calls `check` before it closes the system. */
  run(
    context: FaultContext,
    check: (system: TestSystem, recoveries: readonly number[]) => Promise<void>,
  ): Promise<void>
}
