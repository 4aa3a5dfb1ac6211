// Faults of the engine that holds three PostgreSQL nodes together: for `npm run faults -- --ha` only.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from './fault.ts'
import { strike } from './ha-guard.ts'
import { leaderLeaseS, type Node, type StackOptions } from './ha-settings.ts'
import { type Stack, startStack } from './ha-stack.ts'
import { emptyDatabase, openWorld, type World } from './world.ts'

let stack: Promise<Stack> | undefined
let stackOptions: StackOptions = { lossy: false }
let worlds = 0

/** How the engine of the run is set up when it starts. */
export function useHaStack(options: StackOptions): void {
  stackOptions = options
}

export async function stopHaStack(): Promise<void> {
  const running = stack
  stack = undefined
  await (await running)?.stop()
}

interface Strike {
  readonly world: World
  readonly stack: Stack
  readonly primary: Node
}

/** Undoes what it did when the service has recovered, as systemd or a person would. */
type Repair = () => Promise<void> | void

interface Told {
  readonly name: string
  readonly text: string
  /** Whether somebody else must lead afterwards. */
  readonly changesLeader: boolean
  strike(ground: Strike): Promise<Repair>
}

function haFault({ name, text, changesLeader, strike: hit }: Told): Fault {
  return {
    name,
    text,
    engines: ['postgres'],
    rounds: { long: 2, short: 1 },
    shortOn: [],
    async run(ground, check) {
      stack ??= startStack(stackOptions)
      const engine = await stack
      await engine.whole()
      const databaseUrl = await emptyDatabase(engine.url)
      const dataDir = join(engine.home, `services${(worlds += 1)}`)
      mkdirSync(dataDir)
      await using world = await openWorld({ ...ground, processes: 2, databaseUrl, dataDir })
      const load = world.startLoad()
      const recoveries: number[] = []
      for (let round = 0; round < ground.rounds; round += 1) {
        const primary = await engine.whole()
        await world.recovery(performance.now())
        await sleep(world.random.between(300, 1_200))
        const since = performance.now()
        const repair = await hit({ world, stack: engine, primary })
        await world.recovery(performance.now())
        await repair()
        const next = await engine.whole()
        // A node that comes back must not be taken for the primary again: silence after the repair counts as well.
        await world.recovery(performance.now())
        recoveries.push(longestSilence(world, since))
        if (changesLeader && next === primary) world.problems.push(`${primary.name} still leads`)
      }
      await load.stop()
      await check(world, recoveries)
    },
  }
}

/** Seconds without a single success, the longest since then: an orderly change has no moment of its own to count from. */
function longestSilence(world: World, since: number): number {
  const successes = world.journal.entries
    .filter(({ fate }) => fate === 'success')
    .map(({ endedAt = 0 }) => endedAt)
    .filter((endedAt) => endedAt > since)
    .toSorted((one, other) => one - other)
  const waits = successes.map((endedAt, index) => endedAt - (successes[index - 1] ?? since))
  return Math.max(0, ...waits) / 1000
}

export const haFaults: readonly Fault[] = [
  {
    name: 'ha-kill-postgres',
    text: `kill -9 of the primary's PostgreSQL; its Patroni lives`,
    changesLeader: false,
    async strike({ primary }: Strike): Promise<Repair> {
      strike(primary.data, 'SIGKILL')
      return () => undefined
    },
  },
  {
    name: 'ha-kill-node',
    text: `kill -9 of the primary's PostgreSQL and Patroni together`,
    changesLeader: true,
    async strike({ primary }: Strike): Promise<Repair> {
      strike(primary.folder, 'SIGKILL')
      return () => primary.start()
    },
  },
  {
    name: 'ha-stop-node',
    text: `SIGSTOP of the primary's node for longer than the leader's lease, then SIGCONT`,
    changesLeader: true,
    async strike({ world, primary }: Strike): Promise<Repair> {
      strike(primary.folder, 'SIGSTOP')
      const until = performance.now() + leaderLeaseS * 1000 + world.random.between(3_000, 6_000)
      return async () => {
        await sleep(Math.max(0, until - performance.now()))
        strike(primary.folder, 'SIGCONT')
      }
    },
  },
  {
    name: 'ha-switchover',
    text: 'an orderly switchover, asked for at Patroni',
    changesLeader: true,
    async strike({ stack: engine, primary }: Strike): Promise<Repair> {
      await engine.switchOver(primary)
      return () => undefined
    },
  },
  {
    name: 'ha-kill-etcd',
    text: 'kill -9 of the etcd member that leads',
    changesLeader: false,
    async strike({ world, stack: engine }: Strike): Promise<Repair> {
      const { restart } = await engine.killEtcdLeader()
      // Longer than the lease: it has to be renewed at the two that are left.
      const until = performance.now() + leaderLeaseS * 1000 + world.random.between(1_000, 3_000)
      return async () => {
        await sleep(Math.max(0, until - performance.now()))
        restart()
      }
    },
  },
].map(haFault)
