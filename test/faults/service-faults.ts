// Faults of the service's processes (SIGKILL, SIGSTOP, SIGTERM), API key resets, and faults of the providers.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { domainCheck } from '../../contract/domain-check.ts'
import { admin } from '../support/service.ts'
import type { Fault, FaultContext } from './fault.ts'
import type { ProviderMode } from './gateways.ts'
import { sendCall } from './load.ts'
import {
  emptyDatabase,
  faultCluster,
  leaseS,
  openTestSystem,
  runSql,
  sweepS,
  type TestSystem,
} from './test-system.ts'

const both = ['sqlite', 'postgres'] as const

/** Opens a system with empty storage and runs the load while `inject` runs. */
async function withSystem(
  context: FaultContext,
  processes: number,
  check: (system: TestSystem, recoveries: readonly number[]) => Promise<void>,
  inject: (system: TestSystem) => Promise<number[]>,
): Promise<void> {
  const databaseUrl =
    context.engine === 'postgres'
      ? (context.databaseUrl ?? (await emptyDatabase((await faultCluster()).url)))
      : undefined
  await using system = await openTestSystem({ ...context, processes, databaseUrl })
  const load = system.startLoad()
  await system.recovery(performance.now())
  const recoveries = await inject(system)
  await load.stop()
  await check(system, recoveries)
}

async function killRepeatedly(system: TestSystem, rounds: number): Promise<number[]> {
  const recoveries: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await sleep(system.random.between(150, 900))
    const slot = system.random.pick(system.slots)
    const since = performance.now()
    await slot.process.kill('SIGKILL')
    await slot.start()
    recoveries.push(await system.recoveryOf(slot, since))
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
      withSystem(context, processes, check, (system) => killRepeatedly(system, context.rounds)),
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
    withSystem(context, 1, check, async (system) => {
      const recoveries: number[] = []
      const [slot] = system.slots
      for (let round = 0; round < context.rounds; round += 1) {
        using ballast = await growWal(system)
        system.providers.setMode('hang')
        const extraLoad = system.startLoad({ name: `crowd ${round}`, callers: heldCount })
        await sleep(1_000)
        // A stopped process cannot checkpoint the WAL any more.
        slot!.process.child.kill('SIGSTOP')
        ballast.release()
        const since = performance.now()
        await slot!.process.kill('SIGKILL')
        system.providers.setMode('mixed')
        if (system.engine === 'postgres') {
          const cluster = await faultCluster()
          await cluster.kill()
          await cluster.restart()
        }
        await slot!.start()
        recoveries.push(await system.recoveryOf(slot!, since))
        await extraLoad.stop()
      }
      return recoveries
    }),
}

interface Ballast extends Disposable {
  release(): void
}

/** Grows the WAL that the next start must replay. On SQLite an open reader prevents the checkpoint. */
async function growWal(system: TestSystem): Promise<Ballast> {
  if (system.engine === 'postgres') {
    const url = system.environment['DATABASE_URL']!
    await runSql(url, 'CREATE TABLE IF NOT EXISTS ballast (text text)')
    await runSql(
      url,
      `INSERT INTO ballast SELECT md5(i::text) FROM generate_series(1, ${ballastMb * 11_000}) i`,
    )
    return { release: () => undefined, [Symbol.dispose]: () => undefined }
  }
  const file = join(system.environment['DATA_DIR']!, 'tollgate.db')
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
    withSystem(context, 2, check, async (system) => {
      const recoveries: number[] = []
      for (let round = 0; round < context.rounds; round += 1) {
        // Slow providers, so that calls are in progress in the stopped process.
        system.providers.setMode('slow')
        await sleep(system.random.between(300, 700))
        const { child } = system.random.pick(system.slots).process
        child.kill('SIGSTOP')
        system.providers.setMode('mixed')
        await sleep((leaseS + sweepS + 1) * 1000 + system.random.between(0, 1000))
        const since = performance.now()
        child.kill('SIGCONT')
        recoveries.push(await system.recovery(since))
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
    withSystem(context, 1, check, async (system) => {
      const recoveries: number[] = []
      const [slot] = system.slots
      for (let round = 0; round < context.rounds; round += 1) {
        system.providers.setMode('slow')
        await sleep(system.random.between(300, 900))
        // Messages that the provider has received but not finished are in progress.
        const running = [...system.providers.messages.values()].filter(({ isFinished }) => !isFinished)
        const since = performance.now()
        const code = await slot!.process.kill('SIGTERM')
        if (code !== 0) system.problems.push(`SIGTERM led to exit code ${code}`)
        const interrupted = system.journal.entries.filter(({ call }) =>
          running.some(({ phone }) => phone === call.subject),
        )
        for (const { call, outcome } of interrupted) {
          if (outcome !== 'success' && outcome !== 'failed') {
            system.problems.push(
              `${call.subject} was in progress at SIGTERM and got no response (${outcome})`,
            )
          }
        }
        system.providers.setMode('mixed')
        await slot!.start()
        recoveries.push(await system.recoveryOf(slot!, since))
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
    withSystem(context, 1, check, async (system) => {
      const recoveries: number[] = []
      for (let round = 0; round < context.rounds; round += 1) {
        system.providers.setMode(modes[round % modes.length]!)
        await sleep(1_200)
        system.providers.setMode('normal')
        recoveries.push(await system.recovery(performance.now()))
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
    withSystem(context, 2, check, async (system) => {
      const recoveries: number[] = []
      for (let round = 0; round < context.rounds; round += 1) {
        const customer = system.random.pick(system.customers)
        const oldKey = customer.key
        const reset = await admin(system.environment, 'key', 'reset', customer.username, '--json')
        const since = performance.now()
        customer.key = (JSON.parse(reset.stdout) as { api_key: string }).api_key
        for (const { url } of system.slots) {
          const probe = { customer, idempotencyKey: undefined, call: oldKeyCall(system) }
          const reply = await sendCall(probe, url, 10_000, oldKey)
          if (typeof reply === 'string' || (reply.status !== 401 && reply.status !== 429)) {
            const got = typeof reply === 'string' ? reply : reply.status
            system.problems.push(`the old key was not rejected after the reset: ${got}`)
          }
        }
        const late = system.journal.entries.filter(
          (entry) => entry.apiKey === oldKey && entry.startedAt > since && entry.outcome === 'success',
        )
        if (late.length > 0) system.problems.push(`${late.length} successes with the old key after the reset`)
        recoveries.push(await system.recovery(since))
      }
      return recoveries
    }),
}

function oldKeyCall(system: TestSystem) {
  const subject = `http://old-key-${system.random.next()}.example/`
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
