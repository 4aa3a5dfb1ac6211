// Runs the faults one after the other, each in a separate system, and checks the invariants before the system closes.
import type { Engine } from '../../server/db/database.ts'
import type { Fault, FaultContext } from './fault.ts'
import { haFaults, stopHaStack, useHaStack } from './ha-faults.ts'
import { checkInvariants } from './invariants.ts'
import { serviceFaults } from './service-faults.ts'
import { storageFaults } from './storage-faults.ts'
import { stopFaultCluster, useCluster } from './test-system.ts'

/** Much longer than lease and sweep. With broken durability some operations may stay held indefinitely. */
const settleMs = { normal: 60_000, broken: 10_000 }

/** A commit is acknowledged immediately and written seconds later. */
const lossySettings = { synchronous_commit: 'off', wal_writer_delay: '5s' }

export const faults: readonly Fault[] = [...serviceFaults, ...storageFaults]

export interface SuiteOptions {
  readonly seed: string
  readonly engines: readonly Engine[]
  readonly only?: string | undefined
  /** Replaces the default number of rounds of each fault. */
  readonly rounds?: number | undefined
  readonly short?: boolean
  /** The faults of Patroni, etcd and HAProxy instead of the others. */
  readonly ha?: boolean
  /** A file to which every journal is appended as JSON lines. */
  readonly journal?: string | undefined
  /** Breaks durability on purpose: SQLite responds before its commit, PostgreSQL before its WAL is written. */
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
  /** Slowest start of a process in the same run, in seconds: shows how fast the machine was. */
  readonly start: number
  /** Max CPU seconds of a process from its restart to the first success; 0 if none was restarted. */
  readonly cpu: number
  /** Why the fault was skipped. */
  readonly skipped?: string | undefined
}

export async function runFaults(options: SuiteOptions): Promise<Row[]> {
  const rows: Row[] = []
  try {
    for (const engine of options.engines) {
      for (const fault of options.ha ? haFaults : faults) {
        const isSelected =
          options.only === undefined
            ? !options.short || fault.shortOn.includes(engine)
            : fault.name === options.only
        if (!isSelected || !fault.engines.includes(engine)) continue
        options.onProgress?.(`${fault.name} (${engine}): ${fault.text}`)
        rows.push(
          await runFault(fault, engine, options).catch((error: unknown) => abortedRow(fault, engine, error)),
        )
      }
    }
  } finally {
    await stopFaultCluster()
    await stopHaStack()
  }
  return rows
}

/** An aborted fault counts as a failure. */
function abortedRow(fault: Fault, engine: Engine, error: unknown): Row {
  const problems = [`the suite was aborted: ${error instanceof Error ? error.stack : String(error)}`]
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
  options: Omit<SuiteOptions, 'engines' | 'only' | 'onProgress'> & Pick<FaultContext, 'databaseUrl'>,
): Promise<Row> {
  const rounds = options.rounds ?? (options.short ? fault.rounds.short : fault.rounds.long)
  const emptyRow = {
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
  const skipped = process.platform === 'win32' ? 'needs POSIX signals' : fault.skipReason?.(engine)
  if (skipped !== undefined) return { ...emptyRow, skipped }

  useCluster(options.broken ? lossySettings : {})
  useHaStack({ lossy: options.broken ?? false })
  let row: Row = { ...emptyRow, problems: ['the invariants were not checked'] }
  const environment: Record<string, string> =
    options.broken && engine === 'sqlite'
      ? { TOLLGATE_BREAK: 'ack-before-commit', TOLLGATE_BREAK_I_MEAN_IT: 'yes' }
      : {}
  await fault.run(
    {
      engine,
      rounds,
      environment,
      databaseUrl: options.databaseUrl,
      settleMs: settleMs[options.broken ? 'broken' : 'normal'],
      seed: `${options.seed} ${fault.name} ${engine}`,
    },
    async (system, recoveries) => {
      const report = await checkInvariants(system)
      if (options.journal !== undefined) system.journal.write(options.journal)
      const starts = system.slots.flatMap((slot) => slot.starts)
      const seconds = {
        worst: Math.max(0, ...recoveries),
        start: Math.max(...starts),
        cpu: Math.max(0, ...system.cpus),
      }
      row = { ...emptyRow, ...report, ...seconds }
    },
  )
  return row
}
