// Starts the service for tests, in the test process or as a separate process that can be killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { pino } from 'pino'
import { type CommandResult, runAdmin } from '../../cli/run-admin.ts'
import type { ApiType } from '../../contract/credits.ts'
import { systemActor } from '../../server/audit/audit.ts'
import { createAccount, resetKey } from '../../server/accounts/accounts.ts'
import { type App, type AppOptions, createApp } from '../../server/app.ts'
import { readConfig } from '../../server/config.ts'
import type { Engine } from '../../server/db/database.ts'
import { type Installation, openInstallation } from '../../server/runtime/installation.ts'
import { type FreshStorage, freshStorage, uniqueName } from './engines.ts'
import { root } from './root.ts'

export interface TestAccount {
  readonly id: number
  readonly username: string
  readonly password: string
  readonly key: string
}

export interface TestService extends AsyncDisposable {
  readonly url: string
  readonly app: App
  readonly installation: Installation
  readonly storage: FreshStorage
  /** All log lines of the service. */
  readonly logged: string[]
  account(credits?: Partial<Record<ApiType, number>>): Promise<TestAccount>
}

/** Starts a service in this process on an empty database. The rate limit is off unless `environment` sets it. */
export async function startService(
  engine: Engine,
  environment: Readonly<Record<string, string>> = {},
  storage?: FreshStorage,
  options: AppOptions = {},
): Promise<TestService> {
  const usedStorage = storage ?? (await freshStorage(engine))
  const config = readConfig({ PORT: '0', RATE_LIMIT: 'off', ...usedStorage.environment, ...environment })
  const installation = await openInstallation(config)
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
  const app = await createApp(config, installation, log, { lazyThreads: true, ...options })
  const url = await app.start()
  return {
    url,
    app,
    installation,
    storage: usedStorage,
    logged,
    async account(credits = {}) {
      const account = await createAccount(installation.db, systemActor, {
        username: uniqueName(),
        password: 'correct horse 9',
      })
      for (const [apiType, amount] of Object.entries(credits)) {
        await app.services.credits.grant({
          actor: systemActor,
          accountId: account.id,
          apiType: apiType as ApiType,
          amount,
        })
      }
      return { ...account, key: await resetKey(installation.db, systemActor, account.id) }
    },
    async [Symbol.asyncDispose]() {
      await app.stop()
      await installation.close()
      if (!storage) await usedStorage.remove()
    },
  }
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- responses have different shapes
  readonly body: any
}

/** Posts JSON and reads JSON. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

export async function get(url: string, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(url, { headers })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** For a service whose PUBLIC_URL differs from the address on which it listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

export interface ServiceProcess {
  readonly child: ChildProcess
  readonly url: string
  /** Everything the process has written to stdout and stderr. */
  output(): string
  kill(signal: NodeJS.Signals): Promise<number | null>
}

export interface SpawnOptions {
  /** The Node.js program; by default the one that runs the tests. */
  readonly program?: string
  readonly directory?: string
  readonly script?: string
}

/** Runs `npm start` without npm as a separate process. Resolves when the process has printed its URL. */
export async function spawnService(
  environment: Readonly<Record<string, string>>,
  options: SpawnOptions = {},
): Promise<ServiceProcess> {
  const { script = 'start.js' } = options
  const { child, output } = spawnNode([script], { PORT: '0', RATE_LIMIT: 'off', ...environment }, options)
  const url = await new Promise<string>((resolve, reject) => {
    const findUrl = () => {
      const match = /is running: (\S+)/.exec(output())
      if (!match) return
      child.stdout.off('data', findUrl)
      resolve(match[1]!)
    }
    child.stdout.on('data', findUrl)
    child.once('exit', (code) => reject(new Error(`the service exited with code ${code}: ${output()}`)))
  })
  return {
    child,
    url,
    output,
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      child.kill(signal)
      const [code] = (await once(child, 'exit')) as [number | null]
      return code
    },
  }
}

/** Runs an `admin` command in this process, with separate database connections. */
export async function admin(
  environment: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<CommandResult> {
  return runAdmin(args, () => environment)
}

/** Runs an `admin` command as a separate process. */
export async function adminProcess(
  environment: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<CommandResult> {
  return runNode(['start.js', 'cli/admin.ts', ...args], environment)
}

export async function runNode(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const { child } = spawnNode(args, environment)
  const parts = { stdout: '', stderr: '' }
  child.stdout?.on('data', (data: Buffer) => (parts.stdout += data.toString()))
  child.stderr?.on('data', (data: Buffer) => (parts.stderr += data.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...parts }
}

function spawnNode(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  { program = process.execPath, directory = root }: SpawnOptions = {},
) {
  // The service must not inherit the variables of the test runner.
  const inherited = { ...process.env }
  for (const name of Object.keys(inherited)) {
    if (/^(TEST_|NODE_OPTIONS$|NODE_TEST_CONTEXT$)/.test(name)) delete inherited[name]
  }
  const child = spawn(program, [...args], {
    cwd: directory,
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (data: Buffer) => chunks.push(data))
  child.stderr.on('data', (data: Buffer) => chunks.push(data))
  return { child, output: () => Buffer.concat(chunks).toString() }
}
