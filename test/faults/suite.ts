// Runs the faults one after the other, each in a world of its own, and checks the invariants while that world still stands.
import type { Engine } from '../../server/db/database.ts'
import type { Fault } from './fault.ts'
import { haFaults, stopHaStack, useHaStack } from './ha-faults.ts'
import { checkInvariants } from './invariants.ts'
import { serviceFaults } from './service-faults.ts'
import { storageFaults } from './storage-faults.ts'
import { stopFaultCluster, useCluster } from './world.ts'

/** Far more than lease and sweep: who is still open then stays open. A world that has lost things may never come to rest. */
const settleMs = { whole: 60_000, broken: 10_000 }

/** A commit is answered at once and written within seconds. */
const lossySettings = { synchronous_commit: 'off', wal_writer_delay: '5s' }

export const faults: readonly Fault[] = [...serviceFaults, ...storageFaults]

export interface SuiteOptions {
  readonly seed: string
  readonly engines: readonly Engine[]
  readonly only?: string | undefined
  /** Instead of each fault's own number. */
  readonly rounds?: number | undefined
  readonly short?: boolean
  /** The faults of Patroni, etcd and HAProxy instead of the others. */
  readonly ha?: boolean
  /** A file that gets every journal, as lines of JSON. */
  readonly journal?: string | undefined
  /** Breaks durability on purpose: the suite must notice. SQLite answers before its commit, PostgreSQL before its WAL is written. */
  readonly broken?: boolean
  readonly onProgress?: (line: string) => void
}

export interface Row {
  readonly fault: string
  readonly engine: Engine
  readonly rounds: number
  readonly acknowledged: number
  readonly lost: readonly string[]
  readonly problems: readonly string[]
  /** Seconds from the fault to the next success, of the slowest round. */
  readonly worst: number
  /** Seconds a process took to start in the same run, the slowest: what the machine was good for at the time. */
  readonly start: number
  /** CPU seconds of a process from its new start to the first success, the most of any round; 0 where none was started anew. */
  readonly cpu: number
  /** Why it was not done. */
  readonly skipped?: string | undefined
}

export async function runFaults(options: SuiteOptions): Promise<Row[]> {
  const rows: Row[] = []
  try {
    for (const engine of options.engines) {
      for (const fault of options.ha ? haFaults : faults) {
        const chosen =
          options.only === undefined
            ? !options.short || fault.shortOn.includes(engine)
            : fault.name === options.only
        if (!chosen || !fault.engines.includes(engine)) continue
        options.onProgress?.(`${fault.name} (${engine}): ${fault.text}`)
        rows.push(
          await runFault(fault, engine, options).catch((error: unknown) => brokenOff(fault, engine, error)),
        )
      }
    }
  } finally {
    await stopFaultCluster()
    await stopHaStack()
  }
  return rows
}

/** A suite that cannot go on has not shown that all is well. */
function brokenOff(fault: Fault, engine: Engine, error: unknown): Row {
  const problems = [`the suite broke off: ${error instanceof Error ? error.stack : String(error)}`]
  return {
    fault: fault.name,
    engine,
    rounds: 0,
    acknowledged: 0,
    lost: [],
    problems,
    worst: 0,
    start: 0,
    cpu: 0,
  }
}

export async function runFault(
  fault: Fault,
  engine: Engine,
  options: Omit<SuiteOptions, 'engines' | 'only' | 'onProgress'>,
): Promise<Row> {
  const rounds = options.rounds ?? (options.short ? fault.rounds.short : fault.rounds.long)
  const nothing = {
    fault: fault.name,
    engine,
    rounds,
    acknowledged: 0,
    lost: [],
    problems: [],
    worst: 0,
    start: 0,
    cpu: 0,
  }
  const skipped = process.platform === 'win32' ? 'needs POSIX signals' : fault.impossible?.(engine)
  if (skipped !== undefined) return { ...nothing, skipped }

  useCluster(options.broken ? lossySettings : {})
  useHaStack({ lossy: options.broken ?? false })
  let row: Row = { ...nothing, problems: ['the fault never came to its check'] }
  const environment: Record<string, string> =
    options.broken && engine === 'sqlite'
      ? { TOLLGATE_BREAK: 'ack-before-commit', TOLLGATE_BREAK_I_MEAN_IT: 'yes' }
      : {}
  await fault.run(
    {
      engine,
      rounds,
      environment,
      settleMs: settleMs[options.broken ? 'broken' : 'whole'],
      seed: `${options.seed} ${fault.name} ${engine}`,
    },
    async (world, recoveries) => {
      const verdict = await checkInvariants(world)
      if (options.journal !== undefined) world.journal.write(options.journal)
      const starts = world.slots.flatMap((slot) => slot.starts)
      const seconds = {
        worst: Math.max(0, ...recoveries),
        start: Math.max(...starts),
        cpu: Math.max(0, ...world.cpus),
      }
      row = { ...nothing, ...verdict, ...seconds }
    },
  )
  return row
}
