// One fault's ground: storage, service processes that can be struck, misbehaving vendors, customers with credits, a journal.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { systemActor } from '../../server/audit/audit.ts'
import { apiTypes } from '../../contract/credits.ts'
import { createAccount, resetKey } from '../../server/accounts/accounts.ts'
import { readConfig } from '../../server/config.ts'
import { createCredits } from '../../server/credits/credits.ts'
import type { Engine } from '../../server/db/database.ts'
import { openInstallation } from '../../server/runtime/installation.ts'
import { createTemplate } from '../../server/sms/templates.ts'
import { freePort, type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type ServiceProcess, spawnService } from '../support/service.ts'
import { type Customer, templateCode } from './calls.ts'
import { type Gateways, startGateways } from './gateways.ts'
import { type Journal, openJournal } from './journal.ts'
import { type Load, startLoad } from './load.ts'
import { type Random, seededRandom } from './random.ts'

/** Short, so that what a fault leaves open is decided while one watches. */
export const leaseS = 2
export const sweepS = 1

const customerCount = 4
const creditsEach = 1_000_000
const callers = 10

/** How long the suite waits before it says that something never happened. Nothing is asserted on time below it. */
const patienceMs = 90_000

export interface Slot {
  readonly url: string
  /** The process that runs there now. */
  process: ServiceProcess
  /** How long each start took until the process said that it runs, in seconds. */
  readonly starts: number[]
  /** Starts a new process in the place of one that ended. */
  start(): Promise<void>
  /** CPU time that the process has used so far, in seconds; nothing where the machine does not tell. */
  cpu(): number
}

export interface World extends AsyncDisposable {
  readonly engine: Engine
  readonly environment: Readonly<Record<string, string>>
  readonly random: Random
  readonly journal: Journal
  readonly gateways: Gateways
  readonly customers: readonly Customer[]
  readonly slots: readonly Slot[]
  /** Ten callers; or as many as are named, beside those, with a name that makes their calls their own. */
  startLoad(crowd?: { readonly name: string; readonly callers: number }): Load
  /** After a jump of the clock: calls from before are not repeated. */
  nextEpoch(): void
  readonly epoch: () => number
  /** Waits until a call that began after `since` has succeeded; tells the seconds from then. */
  recovery(since: number): Promise<number>
  /** The same for a process that was started anew; notes the CPU time it took, which other work on the machine disturbs little. */
  recoveryOf(slot: Slot, since: number): Promise<number>
  /** What `recoveryOf` has noted. */
  readonly cpus: readonly number[]
  /** What a fault saw that must not be. */
  readonly problems: string[]
  readonly settleMs: number
}

export interface WorldOptions {
  readonly engine: Engine
  readonly seed: string
  readonly processes: number
  readonly settleMs: number
  /** An empty database; left out on SQLite. */
  readonly databaseUrl?: string | undefined
  /** Where DATA_DIR stands; a folder of its own when left out. */
  readonly dataDir?: string | undefined
  readonly environment?: Readonly<Record<string, string>> | undefined
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const ownFolder =
    options.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'tollgate-faults-')) : undefined
  const gateways = await startGateways(options.seed)
  const environment = {
    DATA_DIR: options.dataDir ?? ownFolder!,
    ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
    SECRET_KEY: 'the fault suite has a secret of its own',
    SAMPLE_ACCOUNT: 'off',
    LOG_LEVEL: 'warn',
    OPERATION_LEASE_S: String(leaseS),
    SWEEP_S: String(sweepS),
    DOMAIN_DEADLINE_MS: '1500',
    ...gateways.environment,
    ...options.environment,
  }
  const customers = await makeCustomers(environment)
  const slots: Slot[] = []
  try {
    for (let index = 0; index < options.processes; index += 1) slots.push(await openSlot(environment))
  } catch (error) {
    await closeAll(slots, gateways, ownFolder)
    throw error
  }
  const random = seededRandom(options.seed)
  const journal = openJournal()
  const problems: string[] = []
  const cpus: number[] = []
  let epoch = 0

  async function recovery(since: number): Promise<number> {
    const giveUpAt = performance.now() + patienceMs
    for (;;) {
      const endedAt = firstSuccessAfter(journal, since)
      if (endedAt !== undefined) return (endedAt - since) / 1000
      if (performance.now() > giveUpAt) {
        problems.push('no call succeeded any more')
        return patienceMs / 1000
      }
      await sleep(10)
    }
  }

  return {
    engine: options.engine,
    environment,
    random,
    journal,
    gateways,
    customers,
    slots,
    problems,
    cpus,
    settleMs: options.settleMs,
    epoch: () => epoch,
    nextEpoch: () => void (epoch += 1),
    startLoad: (crowd) =>
      startLoad({
        journal,
        random: seededRandom(`${options.seed} load${crowd ? ` ${crowd.name}` : ''}`),
        customers,
        urls: () => slots.map(({ url }) => url),
        callers: crowd?.callers ?? callers,
        epoch: () => epoch,
      }),
    recovery,
    async recoveryOf(slot, since) {
      const seconds = await recovery(since)
      cpus.push(slot.cpu())
      return seconds
    },
    [Symbol.asyncDispose]: () => closeAll(slots, gateways, ownFolder),
  }
}

function firstSuccessAfter(journal: Journal, since: number): number | undefined {
  return journal.entries
    .filter((entry) => entry.fate === 'success' && entry.startedAt > since)
    .map((entry) => entry.endedAt)
    .filter((endedAt) => endedAt !== undefined)
    .toSorted((one, other) => one - other)[0]
}

async function closeAll(
  slots: readonly Slot[],
  gateways: Gateways,
  folder: string | undefined,
): Promise<void> {
  await Promise.all(slots.map((slot) => slot.process.kill('SIGKILL')))
  await gateways[Symbol.asyncDispose]()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
}

async function openSlot(environment: Readonly<Record<string, string>>): Promise<Slot> {
  // A port of its own for as long as the world stands: whoever is started again is found where it was.
  const port = await freePort()
  const starts: number[] = []
  const start = async () => {
    const since = performance.now()
    const started = await spawnService({ ...environment, PORT: String(port) })
    starts.push((performance.now() - since) / 1000)
    return started
  }
  const slot: Slot = {
    starts,
    url: `http://127.0.0.1:${port}`,
    process: await start(),
    async start() {
      slot.process = await start()
    },
    cpu: () => cpuSeconds(slot.process.child.pid),
  }
  return slot
}

/** User and system time of all threads, in hundredths in Linux's table. */
function cpuSeconds(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}

async function makeCustomers(environment: Readonly<Record<string, string>>): Promise<Customer[]> {
  const installation = await openInstallation(readConfig(environment))
  const { db, secretKey } = installation
  const credits = createCredits(db, secretKey)
  const customers: Customer[] = []
  try {
    for (let index = 1; index <= customerCount; index += 1) {
      const made = await createAccount(db, systemActor, {
        username: `customer${index}`,
        password: 'correct horse 9',
      })
      for (const apiType of apiTypes)
        await credits.grant({ actor: systemActor, accountId: made.id, apiType, amount: creditsEach })
      customers.push({ ...made, key: await resetKey(db, systemActor, made.id) })
    }
    await createTemplate(db, systemActor, {
      accountId: null,
      code: templateCode,
      name: 'fault',
      content: 'code ${code}',
      status: '审核通过',
    })
  } finally {
    await installation.close()
  }
  return customers
}

let cluster: Promise<PostgresServer> | undefined
let clusterSettings: Readonly<Record<string, string>> = {}

/** With which settings the cluster of the run starts. */
export function useCluster(settings: Readonly<Record<string, string>>): void {
  clusterSettings = settings
}

/** The PostgreSQL of the run: durable, because losing what was acknowledged must be the service's fault alone. */
export function faultCluster(): Promise<PostgresServer> {
  cluster ??= startPostgres({ durable: true, settings: clusterSettings })
  return cluster
}

export async function stopFaultCluster(): Promise<void> {
  const running = cluster
  cluster = undefined
  await (await running)?.stop()
}

export async function emptyDatabase(clusterUrl: string): Promise<string> {
  const name = `fault_${randomBytes(6).toString('hex')}`
  await runSql(clusterUrl, `CREATE DATABASE ${name} TEMPLATE template0`)
  const url = new URL(clusterUrl)
  url.pathname = `/${name}`
  return url.href
}

/** One statement on a connection of its own; the rows it gives. */
export async function runSql(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
