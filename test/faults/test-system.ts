// The system that one fault is injected into: storage, service processes, fake providers, accounts with credits, a journal.
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
import { type FakeProviders, startFakeProviders } from './gateways.ts'
import { type Journal, createJournal } from './journal.ts'
import { type FaultLoad, startLoad } from './load.ts'
import { type Random, seededRandom } from './random.ts'

/** Short, so that operations that a fault leaves held are decided during the test. */
export const leaseS = 2
export const sweepS = 1

const customerCount = 4
const creditsEach = 1_000_000
const callers = 10

/** Max time until the next success. Shorter times are not asserted. */
const timeoutMs = 90_000

export interface ServiceSlot {
  readonly url: string
  /** The current process. */
  process: ServiceProcess
  /** Seconds from each start until the process was ready. */
  readonly starts: number[]
  /** Starts a new process after the previous one has exited. */
  start(): Promise<void>
  /** CPU seconds of the process so far; 0 without /proc. */
  cpu(): number
}

export interface TestSystem extends AsyncDisposable {
  readonly engine: Engine
  readonly environment: Readonly<Record<string, string>>
  readonly random: Random
  readonly journal: Journal
  readonly providers: FakeProviders
  readonly customers: readonly Customer[]
  readonly slots: readonly ServiceSlot[]
  /** Starts ten callers, or an extra load with its number of callers and a name that seeds its calls. */
  startLoad(extra?: { readonly name: string; readonly callers: number }): FaultLoad
  /** Starts a new epoch after a clock change: earlier calls are not repeated. */
  nextEpoch(): void
  readonly epoch: () => number
  /** Waits until a call that started after `since` has succeeded; returns the seconds since then. */
  recovery(since: number): Promise<number>
  /** The same for a restarted process. Records its CPU time, which depends little on other load of the machine. */
  recoveryOf(slot: ServiceSlot, since: number): Promise<number>
  /** CPU seconds recorded by `recoveryOf`. */
  readonly cpus: readonly number[]
  /** Violations found by the fault. */
  readonly problems: string[]
  readonly settleMs: number
}

export interface TestSystemOptions {
  readonly engine: Engine
  readonly seed: string
  readonly processes: number
  readonly settleMs: number
  /** An empty database; undefined for SQLite. */
  readonly databaseUrl?: string | undefined
  /** DATA_DIR; a temporary folder by default. */
  readonly dataDir?: string | undefined
  readonly environment?: Readonly<Record<string, string>> | undefined
}

export async function openTestSystem(options: TestSystemOptions): Promise<TestSystem> {
  const ownFolder =
    options.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'tollgate-faults-')) : undefined
  const providers = await startFakeProviders(options.seed)
  const environment = {
    DATA_DIR: options.dataDir ?? ownFolder!,
    ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
    SECRET_KEY: 'the fault suite has a secret of its own',
    SAMPLE_ACCOUNT: 'off',
    LOG_LEVEL: 'warn',
    OPERATION_LEASE_S: String(leaseS),
    SWEEP_S: String(sweepS),
    DOMAIN_DEADLINE_MS: '1500',
    ...providers.environment,
    ...options.environment,
  }
  const customers = await createCustomers(environment)
  const slots: ServiceSlot[] = []
  try {
    for (let index = 0; index < options.processes; index += 1) slots.push(await openServiceSlot(environment))
  } catch (error) {
    await closeAll(slots, providers, ownFolder)
    throw error
  }
  const random = seededRandom(options.seed)
  const journal = createJournal()
  const problems: string[] = []
  const cpus: number[] = []
  let epoch = 0

  async function recovery(since: number): Promise<number> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const endedAt = firstSuccessAfter(journal, since)
      if (endedAt !== undefined) return (endedAt - since) / 1000
      if (performance.now() > deadline) {
        problems.push('no call succeeded after the fault')
        return timeoutMs / 1000
      }
      await sleep(10)
    }
  }

  return {
    engine: options.engine,
    environment,
    random,
    journal,
    providers,
    customers,
    slots,
    problems,
    cpus,
    settleMs: options.settleMs,
    epoch: () => epoch,
    nextEpoch: () => void (epoch += 1),
    startLoad: (extra) =>
      startLoad({
        journal,
        random: seededRandom(`${options.seed} load${extra ? ` ${extra.name}` : ''}`),
        customers,
        urls: () => slots.map(({ url }) => url),
        callers: extra?.callers ?? callers,
        epoch: () => epoch,
      }),
    recovery,
    async recoveryOf(slot, since) {
      const seconds = await recovery(since)
      cpus.push(slot.cpu())
      return seconds
    },
    [Symbol.asyncDispose]: () => closeAll(slots, providers, ownFolder),
  }
}

function firstSuccessAfter(journal: Journal, since: number): number | undefined {
  return journal.entries
    .filter((entry) => entry.outcome === 'success' && entry.startedAt > since)
    .map((entry) => entry.endedAt)
    .filter((endedAt) => endedAt !== undefined)
    .toSorted((one, other) => one - other)[0]
}

async function closeAll(
  slots: readonly ServiceSlot[],
  providers: FakeProviders,
  folder: string | undefined,
): Promise<void> {
  await Promise.all(slots.map((slot) => slot.process.kill('SIGKILL')))
  await providers[Symbol.asyncDispose]()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
}

async function openServiceSlot(environment: Readonly<Record<string, string>>): Promise<ServiceSlot> {
  // The port stays the same while the system is open, so that a restarted process has the same URL.
  const port = await freePort()
  const starts: number[] = []
  const start = async () => {
    const since = performance.now()
    const started = await spawnService({ ...environment, PORT: String(port) })
    starts.push((performance.now() - since) / 1000)
    return started
  }
  const slot: ServiceSlot = {
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

/** User and system time of all threads. Linux counts in ticks of 10 ms. */
function cpuSeconds(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}

async function createCustomers(environment: Readonly<Record<string, string>>): Promise<Customer[]> {
  const installation = await openInstallation(readConfig(environment))
  const { db, secretKey } = installation
  const credits = createCredits(db, secretKey)
  const customers: Customer[] = []
  try {
    for (let index = 1; index <= customerCount; index += 1) {
      const account = await createAccount(db, systemActor, {
        username: `customer${index}`,
        password: 'correct horse 9',
      })
      for (const apiType of apiTypes)
        await credits.grant({ actor: systemActor, accountId: account.id, apiType, amount: creditsEach })
      customers.push({ ...account, key: await resetKey(db, systemActor, account.id) })
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

/** Sets the settings with which the PostgreSQL server of the run starts. */
export function useCluster(settings: Readonly<Record<string, string>>): void {
  clusterSettings = settings
}

/** The PostgreSQL server of the run. It is durable, so that only the service can lose an acknowledged call. */
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

/** Runs one statement on a new connection and returns its rows. */
export async function runSql(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
