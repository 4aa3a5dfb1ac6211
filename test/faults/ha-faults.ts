// Faults of a PostgreSQL cluster with three nodes, for `npm run faults -- --ha` only.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from './fault.ts'
import { signalAll } from './ha-guard.ts'
import { leaderLeaseS, type PatroniNode, type StackOptions } from './ha-settings.ts'
import { type Stack, startStack } from './ha-stack.ts'
import { emptyDatabase, openTestSystem, type TestSystem } from './test-system.ts'

let stack: Promise<Stack> | undefined
let stackOptions: StackOptions = { lossy: false }
let worldCount = 0

/** Sets the options with which the cluster starts. */
export function useHaStack(options: StackOptions): void {
  stackOptions = options
}

export async function stopHaStack(): Promise<void> {
  const running = stack
  stack = undefined
  await (await running)?.stop()
}

interface HaFaultContext {
  readonly system: TestSystem
  readonly stack: Stack
  readonly primary: PatroniNode
}

/** Restarts what the fault stopped, after the service has recovered. */
type Repair = () => Promise<void> | void

interface HaFaultOptions {
  readonly name: string
  readonly text: string
  /** Whether another node must be the leader afterwards. */
  readonly changesLeader: boolean
  inject(context: HaFaultContext): Promise<Repair>
}

function haFault({ name, text, changesLeader, inject }: HaFaultOptions): Fault {
  return {
    name,
    text,
    engines: ['postgres'],
    rounds: { long: 2, short: 1 },
    shortOn: [],
    async run(context, check) {
      stack ??= startStack(stackOptions)
      const engine = await stack
      await engine.waitUntilHealthy()
      const databaseUrl = await emptyDatabase(engine.url)
      const dataDir = join(engine.home, `services${(worldCount += 1)}`)
      mkdirSync(dataDir)
      await using system = await openTestSystem({ ...context, processes: 2, databaseUrl, dataDir })
      const load = system.startLoad()
      const recoveries: number[] = []
      for (let round = 0; round < context.rounds; round += 1) {
        const primary = await engine.waitUntilHealthy()
        await system.recovery(performance.now())
        await sleep(system.random.between(300, 1_200))
        const since = performance.now()
        const repair = await inject({ system, stack: engine, primary })
        await system.recovery(performance.now())
        await repair()
        const next = await engine.waitUntilHealthy()
        // A repaired node must not become the primary again, so time without a success after the repair counts too.
        await system.recovery(performance.now())
        recoveries.push(longestOutage(system, since))
        if (changesLeader && next === primary) system.problems.push(`${primary.name} is still the leader`)
      }
      await load.stop()
      await check(system, recoveries)
    },
  }
}

/** Longest time without a success since `since`, in seconds. A switchover has no exact start to measure from. */
function longestOutage(system: TestSystem, since: number): number {
  const successes = system.journal.entries
    .filter(({ outcome }) => outcome === 'success')
    .map(({ endedAt = 0 }) => endedAt)
    .filter((endedAt) => endedAt > since)
    .toSorted((one, other) => one - other)
  const waits = successes.map((endedAt, index) => endedAt - (successes[index - 1] ?? since))
  return Math.max(0, ...waits) / 1000
}

export const haFaults: readonly Fault[] = [
  {
    name: 'ha-kill-postgres',
    text: `kill -9 of the primary's PostgreSQL; its Patroni keeps running`,
    changesLeader: false,
    async inject({ primary }: HaFaultContext): Promise<Repair> {
      signalAll(primary.data, 'SIGKILL')
      return () => undefined
    },
  },
  {
    name: 'ha-kill-node',
    text: `kill -9 of the primary's PostgreSQL and Patroni together`,
    changesLeader: true,
    async inject({ primary }: HaFaultContext): Promise<Repair> {
      signalAll(primary.folder, 'SIGKILL')
      return () => primary.start()
    },
  },
  {
    name: 'ha-stop-node',
    text: `SIGSTOP of the primary's node for longer than the leader's lease, then SIGCONT`,
    changesLeader: true,
    async inject({ system, primary }: HaFaultContext): Promise<Repair> {
      signalAll(primary.folder, 'SIGSTOP')
      const until = performance.now() + leaderLeaseS * 1000 + system.random.between(3_000, 6_000)
      return async () => {
        await sleep(Math.max(0, until - performance.now()))
        signalAll(primary.folder, 'SIGCONT')
      }
    },
  },
  {
    name: 'ha-switchover',
    text: 'a planned switchover through Patroni',
    changesLeader: true,
    async inject({ stack: engine, primary }: HaFaultContext): Promise<Repair> {
      await engine.switchOver(primary)
      return () => undefined
    },
  },
  {
    name: 'ha-kill-etcd',
    text: 'kill -9 of the etcd leader',
    changesLeader: false,
    async inject({ system, stack: engine }: HaFaultContext): Promise<Repair> {
      const { restart } = await engine.killEtcdLeader()
      // Longer than the lease, so that it is renewed through the two remaining members.
      const until = performance.now() + leaderLeaseS * 1000 + system.random.between(1_000, 3_000)
      return async () => {
        await sleep(Math.max(0, until - performance.now()))
        restart()
      }
    },
  },
].map(haFault)
