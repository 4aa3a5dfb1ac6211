// Faults of the service's own processes: killed, stopped, asked to end, several at once; keys that change; vendors that fail.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { domainCheck } from '../../contract/domain-check.ts'
import { admin } from '../support/service.ts'
import type { Fault, Ground } from './fault.ts'
import type { Mood } from './gateways.ts'
import { sendCall } from './load.ts'
import { emptyDatabase, faultCluster, leaseS, openWorld, runSql, sweepS, type World } from './world.ts'

const both = ['sqlite', 'postgres'] as const

/** A world on fresh storage of the engine, its load running while the fault strikes. */
async function inWorld(
  ground: Ground,
  processes: number,
  check: (world: World, recoveries: readonly number[]) => Promise<void>,
  strike: (world: World) => Promise<number[]>,
): Promise<void> {
  const databaseUrl =
    ground.engine === 'postgres' ? await emptyDatabase((await faultCluster()).url) : undefined
  await using world = await openWorld({ ...ground, processes, databaseUrl })
  const load = world.startLoad()
  await world.recovery(performance.now())
  const recoveries = await strike(world)
  await load.stop()
  await check(world, recoveries)
}

async function killAgainAndAgain(world: World, rounds: number): Promise<number[]> {
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
    run: (ground, check) =>
      inWorld(ground, processes, check, (world) => killAgainAndAgain(world, ground.rounds)),
  }
}

/** Callers whose operations are all open when the service dies. */
const crowdSize = 300

const ballastMb = 64

const killLaden: Fault = {
  name: 'kill-laden',
  text: `kill -9 with ${crowdSize} operations open and ${ballastMb} MB in the WAL; on PostgreSQL the server dies too`,
  engines: both,
  rounds: { long: 4, short: 1 },
  shortOn: [],
  run: (ground, check) =>
    inWorld(ground, 1, check, async (world) => {
      const recoveries: number[] = []
      const [slot] = world.slots
      for (let round = 0; round < ground.rounds; round += 1) {
        using ballast = await growWal(world)
        world.gateways.setMood('hang')
        const crowd = world.startLoad({ name: `crowd ${round}`, callers: crowdSize })
        await sleep(1_000)
        // From here on it cannot tidy up any more.
        slot!.process.child.kill('SIGSTOP')
        ballast.release()
        const since = performance.now()
        await slot!.process.kill('SIGKILL')
        world.gateways.setMood('mixed')
        if (world.engine === 'postgres') {
          const cluster = await faultCluster()
          await cluster.kill()
          await cluster.restart()
        }
        await slot!.start()
        recoveries.push(await world.recoveryOf(slot!, since))
        await crowd.stop()
      }
      return recoveries
    }),
}

interface Ballast extends Disposable {
  release(): void
}

/** A WAL that the next start has to read: SQLite's is held back by a reader, PostgreSQL's has no checkpoint since. */
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
  text: 'SIGSTOP for longer than the lease, beside a process that sweeps',
  engines: both,
  rounds: { long: 6, short: 1 },
  shortOn: both,
  run: (ground, check) =>
    inWorld(ground, 2, check, async (world) => {
      const recoveries: number[] = []
      for (let round = 0; round < ground.rounds; round += 1) {
        // Slow vendors, so that calls are under way in the one that stops.
        world.gateways.setMood('slow')
        await sleep(world.random.between(300, 700))
        const { child } = world.random.pick(world.slots).process
        child.kill('SIGSTOP')
        world.gateways.setMood('mixed')
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
  text: 'SIGTERM under load: running calls finish, exit 0',
  engines: both,
  rounds: { long: 10, short: 1 },
  shortOn: ['postgres'],
  run: (ground, check) =>
    inWorld(ground, 1, check, async (world) => {
      const recoveries: number[] = []
      const [slot] = world.slots
      for (let round = 0; round < ground.rounds; round += 1) {
        world.gateways.setMood('slow')
        await sleep(world.random.between(300, 900))
        // What the vendor has received and not answered is surely running.
        const running = [...world.gateways.messages.values()].filter(({ answered }) => !answered)
        const since = performance.now()
        const code = await slot!.process.kill('SIGTERM')
        if (code !== 0) world.problems.push(`SIGTERM ended with ${code}`)
        const told = world.journal.entries.filter(({ wish }) =>
          running.some(({ phone }) => phone === wish.subject),
        )
        for (const { wish, fate } of told) {
          if (fate !== 'success' && fate !== 'failed') {
            world.problems.push(
              `${wish.subject} was running at SIGTERM and was left without its answer (${fate})`,
            )
          }
        }
        world.gateways.setMood('mixed')
        await slot!.start()
        recoveries.push(await world.recoveryOf(slot!, since))
      }
      return recoveries
    }),
}

const moods: readonly Mood[] = ['mixed', 'hang', 'cut', 'garbage', 'slow', 'refuse']

const gateways: Fault = {
  name: 'gateways',
  text: 'vendors hang, are slow, cut after success, answer garbage, refuse',
  engines: both,
  rounds: { long: 12, short: 3 },
  shortOn: ['sqlite'],
  run: (ground, check) =>
    inWorld(ground, 1, check, async (world) => {
      const recoveries: number[] = []
      for (let round = 0; round < ground.rounds; round += 1) {
        world.gateways.setMood(moods[round % moods.length]!)
        await sleep(1_200)
        world.gateways.setMood('well')
        recoveries.push(await world.recovery(performance.now()))
        await sleep(300)
      }
      return recoveries
    }),
}

const keyReset: Fault = {
  name: 'key-reset',
  text: 'keys reset under load, by another process, with two services',
  engines: both,
  rounds: { long: 8, short: 2 },
  shortOn: ['postgres'],
  run: (ground, check) =>
    inWorld(ground, 2, check, async (world) => {
      const recoveries: number[] = []
      for (let round = 0; round < ground.rounds; round += 1) {
        const customer = world.random.pick(world.customers)
        const oldKey = customer.key
        const reset = await admin(world.environment, 'key', 'reset', customer.username, '--json')
        const since = performance.now()
        customer.key = (JSON.parse(reset.stdout) as { api_key: string }).api_key
        for (const { url } of world.slots) {
          const probe = { customer, idempotencyKey: undefined, wish: oldKeyWish(world) }
          const reply = await sendCall(probe, url, 10_000, oldKey)
          if (typeof reply === 'string' || (reply.status !== 401 && reply.status !== 429)) {
            const got = typeof reply === 'string' ? reply : reply.status
            world.problems.push(`the old key was not refused after the reset's answer: ${got}`)
          }
        }
        const late = world.journal.entries.filter(
          (entry) => entry.apiKey === oldKey && entry.startedAt > since && entry.fate === 'success',
        )
        if (late.length > 0) world.problems.push(`${late.length} successes with the old key after the reset`)
        recoveries.push(await world.recovery(since))
      }
      return recoveries
    }),
}

function oldKeyWish(world: World) {
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
  killProcesses('kill', 'kill -9 of the service, again and again', 1, {
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
  gateways,
  keyReset,
]
