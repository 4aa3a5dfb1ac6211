// A high-availability cluster on loopback from Debian's packages: three etcd members, three Patroni nodes and HAProxy.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, serverUser, temporaryFolder } from '../support/postgres.ts'
import { startClusterGuard, signalAll } from './ha-guard.ts'
import {
  type Etcd,
  etcdFlags,
  findProgram,
  haproxySettings,
  type PatroniNode,
  patroniSettings,
  type StackOptions,
} from './ha-settings.ts'
import { runSql } from './test-system.ts'

const nodeCount = 3
/** Max time to wait for a state of the cluster. */
const timeoutMs = 180_000

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly timeline?: number
}

export interface Stack {
  /** Address of the database through HAProxy. */
  readonly url: string
  /** Folder of the cluster. The services' DATA_DIR must be below it too. */
  readonly home: string
  readonly nodes: readonly PatroniNode[]
  /** Waits for a node that holds the leader's lease. */
  leader(): Promise<PatroniNode>
  /** Waits until all three nodes run, one is the leader, one a synchronous standby, and HAProxy connects to the leader. */
  waitUntilHealthy(): Promise<PatroniNode>
  /** Requests a planned switchover. */
  switchOver(from: PatroniNode): Promise<void>
  /** Sends SIGKILL to the etcd leader; `restart` starts it again. */
  killEtcdLeader(): Promise<{ restart(): void }>
  stop(): Promise<void>
}

export async function startStack(options: StackOptions): Promise<Stack> {
  const user = serverUser()
  const home = mkdtempSync(join(temporaryFolder(), 'tollgate-ha-'))
  const guard = startClusterGuard(home)
  const usedPorts = new Set<number>()

  async function port(): Promise<number> {
    const one = await freePort()
    if (usedPorts.has(one)) return port()
    usedPorts.add(one)
    return one
  }

  function chown(path: string): void {
    if (user.uid !== undefined) chownSync(path, user.uid, user.gid ?? user.uid)
  }

  function createFolder(name: string): string {
    const folder = join(home, name)
    mkdirSync(folder, { mode: 0o700 })
    chown(folder)
    return folder
  }

  function launch(program: string, args: readonly string[], folder: string): ChildProcess {
    const log = openSync(join(folder, 'log'), 'a')
    const child = spawn(program, args, {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, LC_ALL: 'C.UTF-8', TZ: 'UTC', ETCDCTL_API: '3' },
      // Ctrl-C must reach the suite only; the guard stops these processes.
      detached: true,
      stdio: ['ignore', log, log],
      ...user,
    })
    closeSync(log)
    child.on('error', () => undefined)
    child.unref()
    return child
  }

  try {
    chown(home)
    const etcds = await createEtcds(port, createFolder)
    const startEtcd = (one: Etcd): void =>
      void launch(findProgram('etcd')!, etcdFlags(one, etcds), one.folder)
    etcds.forEach(startEtcd)
    await waitFor('etcd', home, async () => (await etcdLeader(etcds)) !== undefined)

    const passwords = { superuser: secret(), replication: secret() }
    const nodes: PatroniNode[] = []
    for (let index = 1; index <= nodeCount; index += 1) {
      const name = `node${index}`
      const folder = createFolder(name)
      const [pgPort, restPort] = [await port(), await port()]
      const data = join(folder, 'data')
      const start = (): void => void launch(findProgram('patroni')!, ['patroni.yml'], folder)
      nodes.push({ name, folder, data, pgPort, restPort, start })
    }
    for (const node of nodes) {
      // JSON is valid YAML.
      const file = join(node.folder, 'patroni.yml')
      writeFileSync(file, JSON.stringify(patroniSettings(node, etcds, passwords, options)), { mode: 0o600 })
      chown(file)
    }

    const proxyPort = await port()
    const proxyFolder = createFolder('haproxy')
    writeFileSync(join(proxyFolder, 'haproxy.cfg'), haproxySettings(proxyPort, nodes))
    const url = `postgres://postgres:${passwords.superuser}@127.0.0.1:${proxyPort}/postgres`

    const leader = async (): Promise<PatroniNode> => {
      let found: PatroniNode | undefined
      await waitFor('a leader', home, async () => {
        const name = (await members(nodes)).find(({ role }) => role === 'leader')?.name
        found = nodes.find((node) => node.name === name)
        return found !== undefined
      })
      return found!
    }

    const waitUntilHealthy = async (): Promise<PatroniNode> => {
      let found: PatroniNode | undefined
      await waitFor('three healthy nodes', home, async () => {
        const all = await members(nodes)
        const leaders = all.filter(({ role }) => role === 'leader')
        const synchronous = all.filter(({ role }) => role === 'sync_standby')
        const running = all.filter(
          ({ state, timeline }) => /^(running|streaming)$/.test(state) && timeline === leaders[0]?.timeline,
        )
        if (leaders.length !== 1 || running.length !== nodeCount) return false
        if (synchronous.length === 0 && !options.lossy) return false
        const node = nodes.find(({ name }) => name === leaders[0]!.name)!
        if (!(await hasAllStandbys(node, passwords.superuser))) return false
        found = node
        return (await portBehindProxy(url)) === node.pgPort
      })
      return found!
    }

    // The first node starts alone, so that it becomes the primary and the others are copied from it.
    nodes[0]!.start()
    await leader()
    for (const node of nodes.slice(1)) node.start()
    launch(findProgram('haproxy')!, ['-db', '-f', 'haproxy.cfg'], proxyFolder)
    await waitUntilHealthy()

    return {
      url,
      home,
      nodes,
      leader,
      waitUntilHealthy,
      async switchOver(from) {
        const response = await fetch(`http://127.0.0.1:${from.restPort}/switchover`, {
          method: 'POST',
          body: JSON.stringify({ leader: from.name }),
          signal: AbortSignal.timeout(60_000),
        })
        const text = await response.text()
        if (!response.ok) throw new Error(`Patroni refused the switchover: ${response.status} ${text}`)
      },
      async killEtcdLeader() {
        const one = await etcdLeader(etcds)
        if (!one) throw new Error('etcd has no leader')
        signalAll(one.folder, 'SIGKILL')
        return {
          restart: () => startEtcd(one),
        }
      },
      stop: () => guard.release(),
    }
  } catch (error) {
    await guard.release()
    throw error
  }
}

function secret(): string {
  return randomBytes(12).toString('hex')
}

async function createEtcds(
  port: () => Promise<number>,
  createFolder: (name: string) => string,
): Promise<readonly Etcd[]> {
  const etcds: Etcd[] = []
  for (let index = 1; index <= 3; index += 1) {
    const name = `etcd${index}`
    etcds.push({ name, folder: createFolder(name), clientPort: await port(), peerPort: await port() })
  }
  return etcds
}

async function etcdLeader(etcds: readonly Etcd[]): Promise<Etcd | undefined> {
  for (const one of etcds) {
    try {
      const response = await fetch(`http://127.0.0.1:${one.clientPort}/v3/maintenance/status`, {
        method: 'POST',
        body: '{}',
        signal: AbortSignal.timeout(2_000),
      })
      const { header, leader } = (await response.json()) as {
        header?: { member_id: string }
        leader?: string
      }
      if (leader !== undefined && leader === header?.member_id) return one
    } catch {
      // Try the next one.
    }
  }
  return undefined
}

/** Returns the members of the cluster as reported by the first Patroni that responds. */
async function members(nodes: readonly PatroniNode[]): Promise<readonly Member[]> {
  for (const { restPort } of nodes) {
    try {
      const response = await fetch(`http://127.0.0.1:${restPort}/cluster`, {
        signal: AbortSignal.timeout(2_000),
      })
      const { members: all } = (await response.json()) as { members?: readonly Member[] }
      if (all) return all
    } catch {
      // Try the next one.
    }
  }
  return []
}

/** Returns whether both standbys stream from the leader. */
async function hasAllStandbys(leader: PatroniNode, password: string): Promise<boolean> {
  const url = `postgres://postgres:${password}@127.0.0.1:${leader.pgPort}/postgres`
  const rows = await runSql(url, `SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'`).catch(
    () => [],
  )
  return rows.length === nodeCount - 1
}

async function portBehindProxy(url: string): Promise<unknown> {
  const rows = await runSql(url, 'SELECT inet_server_port() AS port').catch(() => [])
  return rows[0]?.['port']
}

async function waitFor(what: string, home: string, isReached: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await isReached())) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${what}\n${logTails(home)}`)
    await sleep(200)
  }
}

/** Returns the end of every log file. */
function logTails(home: string): string {
  const logs = readdirSync(home).map((name) => {
    try {
      return `${name}: ${readFileSync(join(home, name, 'log'), 'utf8').slice(-1500)}`
    } catch {
      return name
    }
  })
  return logs.join('\n')
}
