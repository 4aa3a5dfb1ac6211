// Faults of the service's processes (SIGKILL, SIGSTOP, SIGTERM), API key resets, and faults of the providers.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { domainCheck } from '../../contract/domain-check.ts'
import { admin } from '../support/service.ts'
import type { Fault, FaultContext } from './fault.ts'
import type { ProviderMode } from './gateways.ts'
import { sendCall } from './load.ts'
import { emptyDatabase, faultCluster, leaseS, openWorld, runSql, sweepS, type World } from './world.ts'

const both = ['sqlite', 'postgres'] as const

/** Opens a world with empty storage and runs the load while `inject` runs. */
async function inWorld(
  context: FaultContext,
  processes: number,
  check: (world: World, recoveries: readonly number[]) => Promise<void>,
  inject: (world: World) => Promise<number[]>,
): Promise<void> {
  const databaseUrl =
    context.engine === 'postgres'
      ? (context.databaseUrl ?? (await emptyDatabase((await faultCluster()).url)))
      : undefined
  await using world = await openWorld({ ...context, processes, databaseUrl })
  const load = world.startLoad()
  await world.recovery(performance.now())
  const recoveries = await inject(world)
  await load.stop()
  await check(world, recoveries)
}

async function killRepeatedly(world: World, rounds: number): Promise<number[]> {
  const recoveries: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await sleep(world.random.between(150, 900))
    const slot = world.random.pick(world.slots)
    const since = performance.now()
    await slot.process.kill('SIGKILL')
    await slot.start()
    recoveries.push(await world.recoveryOf(slot, since))
  }
  return recoveries
}

function killProcesses(
  name: string,
  text: string,
  processes: number,
  options: Pick<Fault, 'engines' | 'rounds' | 'shortOn'>,
): Fault {
  return {
    name,
    text,
    ...options,
    run: (context, check) =>
      inWorld(context, processes, check, (world) => killRepeatedly(world, context.rounds)),
  }
}

/** Operations that are held when the service is killed. */
const heldCount = 300

const ballastMb = 64

const killLaden: Fault = {
  name: 'kill-laden',
  text: `kill -9 with ${heldCount} held operations and ${ballastMb} MB in the WAL; on PostgreSQL the server is killed too`,
  engines: both,
  rounds: { long: 4, short: 1 },
  shortOn: [],
  run: (context, check) =>
    inWorld(context, 1, check, async (world) => {
      const recoveries: number[] = []
      const [slot] = world.slots
      for (let round = 0; round < context.rounds; round += 1) {
        using ballast = await growWal(world)
        world.providers.setMode('hang')
        const extraLoad = world.startLoad({ name: `crowd ${round}`, callers: heldCount })
        await sleep(1_000)
        // A stopped process cannot checkpoint the WAL any more.
        slot!.process.child.kill('SIGSTOP')
        ballast.release()
        const since = performance.now()
        await slot!.process.kill('SIGKILL')
        world.providers.setMode('mixed')
        if (world.engine === 'postgres') {
          const cluster = await faultCluster()
          await cluster.kill()
          await cluster.restart()
        }
        await slot!.start()
        recoveries.push(await world.recoveryOf(slot!, since))
        await extraLoad.stop()
      }
      return recoveries
    }),
}

interface Ballast extends Disposable {
  release(): void
}

/** Grows the WAL that the next start must replay. On SQLite an open reader prevents the checkpoint. */
async function growWal(world: World): Promise<Ballast> {
  if (world.engine === 'postgres') {
    const url = world.environment['DATABASE_URL']!
    await runSql(url, 'CREATE TABLE IF NOT EXISTS ballast (text text)')
    await runSql(
      url,
      `INSERT INTO ballast SELECT md5(i::text) FROM generate_series(1, ${ballastMb * 11_000}) i`,
    )
    return { release: () => undefined, [Symbol.dispose]: () => undefined }
  }
  const file = join(world.environment['DATA_DIR']!, 'tollgate.db')
  const [writer, reader] = [new DatabaseSync(file), new DatabaseSync(file)]
  for (const one of [writer, reader]) one.exec('PRAGMA busy_timeout = 10000')
  writer.exec('CREATE TABLE IF NOT EXISTS ballast (blob BLOB)')
  reader.exec('BEGIN; SELECT count(*) FROM ballast')
  for (let written = 0; written < ballastMb; written += 1) {
    writer.exec('INSERT INTO ballast (blob) VALUES (zeroblob(1048576))')
    await sleep(1)
  }
  const release = (): void => {
    for (const one of [reader, writer]) if (one.isOpen) one.close()
  }
  return { release, [Symbol.dispose]: release }
}

const stopped: Fault = {
  name: 'stop',
  text: 'SIGSTOP for longer than the lease, while a second process sweeps',
  engines: both,
  rounds: { long: 6, short: 1 },
  shortOn: both,
  run: (context, check) =>
    inWorld(context, 2, check, async (world) => {
      const recoveries: number[] = []
      for (let round = 0; round < context.rounds; round += 1) {
        // Slow providers, so that calls are in progress in the stopped process.
        world.providers.setMode('slow')
        await sleep(world.random.between(300, 700))
        const { child } = world.random.pick(world.slots).process
        child.kill('SIGSTOP')
        world.providers.setMode('mixed')
        await sleep((leaseS + sweepS + 1) * 1000 + world.random.between(0, 1000))
        const since = performance.now()
        child.kill('SIGCONT')
        recoveries.push(await world.recovery(since))
      }
      return recoveries
    }),
}

const terminated: Fault = {
  name: 'terminate',
  text: 'SIGTERM under load: calls in progress finish, exit code 0',
  engines: both,
  rounds: { long: 10, short: 1 },
  shortOn: ['postgres'],
  run: (context, check) =>
    inWorld(context, 1, check, async (world) => {
      const recoveries: number[] = []
      const [slot] = world.slots
      for (let round = 0; round < context.rounds; round += 1) {
        world.providers.setMode('slow')
        await sleep(world.random.between(300, 900))
        // Messages that the provider has received but not finished are in progress.
        const running = [...world.providers.messages.values()].filter(({ isFinished }) => !isFinished)
        const since = performance.now()
        const code = await slot!.process.kill('SIGTERM')
        if (code !== 0) world.problems.push(`SIGTERM led to exit code ${code}`)
        const interrupted = world.journal.entries.filter(({ call }) =>
          running.some(({ phone }) => phone === call.subject),
        )
        for (const { call, outcome } of interrupted) {
          if (outcome !== 'success' && outcome !== 'failed') {
            world.problems.push(`${call.subject} was in progress at SIGTERM and got no response (${outcome})`)
          }
        }
        world.providers.setMode('mixed')
        await slot!.start()
        recoveries.push(await world.recoveryOf(slot!, since))
      }
      return recoveries
    }),
}

const modes: readonly ProviderMode[] = ['mixed', 'hang', 'disconnect', 'garbage', 'slow', 'reject']

const providers: Fault = {
  name: 'gateways',
  text: 'providers hang, are slow, disconnect after success, return garbage, refuse',
  engines: both,
  rounds: { long: 12, short: 3 },
  shortOn: ['sqlite'],
  run: (context, check) =>
    inWorld(context, 1, check, async (world) => {
      const recoveries: number[] = []
      for (let round = 0; round < context.rounds; round += 1) {
        world.providers.setMode(modes[round % modes.length]!)
        await sleep(1_200)
        world.providers.setMode('normal')
        recoveries.push(await world.recovery(performance.now()))
        await sleep(300)
      }
      return recoveries
    }),
}

const keyReset: Fault = {
  name: 'key-reset',
  text: 'API keys reset under load by another process, two services',
  engines: both,
  rounds: { long: 8, short: 2 },
  shortOn: ['postgres'],
  run: (context, check) =>
    inWorld(context, 2, check, async (world) => {
      const recoveries: number[] = []
      for (let round = 0; round < context.rounds; round += 1) {
        const customer = world.random.pick(world.customers)
        const oldKey = customer.key
        const reset = await admin(world.environment, 'key', 'reset', customer.username, '--json')
        const since = performance.now()
        customer.key = (JSON.parse(reset.stdout) as { api_key: string }).api_key
        for (const { url } of world.slots) {
          const probe = { customer, idempotencyKey: undefined, call: oldKeyCall(world) }
          const reply = await sendCall(probe, url, 10_000, oldKey)
          if (typeof reply === 'string' || (reply.status !== 401 && reply.status !== 429)) {
            const got = typeof reply === 'string' ? reply : reply.status
            world.problems.push(`the old key was not rejected after the reset: ${got}`)
          }
        }
        const late = world.journal.entries.filter(
          (entry) => entry.apiKey === oldKey && entry.startedAt > since && entry.outcome === 'success',
        )
        if (late.length > 0) world.problems.push(`${late.length} successes with the old key after the reset`)
        recoveries.push(await world.recovery(since))
      }
      return recoveries
    }),
}

function oldKeyCall(world: World) {
  const subject = `http://old-key-${world.random.next()}.example/`
  return {
    apiType: 'domain_check',
    path: domainCheck.path,
    body: { urls: [subject] },
    subject,
    cost: 1,
  } as const
}

export const serviceFaults: readonly Fault[] = [
  killProcesses('kill', 'kill -9 of the service, repeatedly', 1, {
    engines: both,
    rounds: { long: 20, short: 3 },
    shortOn: both,
  }),
  killProcesses('two-processes', 'kill -9 of one of two services on one database', 2, {
    engines: both,
    rounds: { long: 12, short: 2 },
    shortOn: ['sqlite'],
  }),
  killProcesses('three-processes', 'kill -9 of one of three services on one database', 3, {
    engines: ['postgres'],
    rounds: { long: 12, short: 2 },
    shortOn: [],
  }),
  killLaden,
  stopped,
  terminated,
  providers,
  keyReset,
]
