// The engine people really run, on loopback: three etcd members, three Patroni nodes, HAProxy in front, from Debian's packages.
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
import { startGuard, strike } from './ha-guard.ts'
import {
  type Etcd,
  etcdFlags,
  findProgram,
  haproxySettings,
  type Node,
  patroniSettings,
  type StackOptions,
} from './ha-settings.ts'
import { runSql } from './world.ts'

const nodeCount = 3
/** How long the suite waits for the engines before it gives up. */
const patienceMs = 180_000

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly timeline?: number
}

export interface Stack {
  /** Through HAProxy. */
  readonly url: string
  /** Its own folder; the services' DATA_DIR belongs in there too. */
  readonly home: string
  readonly nodes: readonly Node[]
  /** Who holds the leader's lease, by what the others know. */
  leader(): Promise<Node>
  /** Waits until all three nodes run, one leads, one follows synchronously, and HAProxy leads to the leader. */
  whole(): Promise<Node>
  /** Asks for an orderly change of the leader. */
  switchOver(from: Node): Promise<void>
  /** kill -9 of the etcd member that leads, and its start again. */
  killEtcdLeader(): Promise<{ restart(): void }>
  stop(): Promise<void>
}

export async function startStack(options: StackOptions): Promise<Stack> {
  const user = serverUser()
  const home = mkdtempSync(join(temporaryFolder(), 'tollgate-ha-'))
  const guard = startGuard(home)
  const taken = new Set<number>()

  async function port(): Promise<number> {
    const one = await freePort()
    if (taken.has(one)) return port()
    taken.add(one)
    return one
  }

  function own(path: string): void {
    if (user.uid !== undefined) chownSync(path, user.uid, user.gid ?? user.uid)
  }

  function makeFolder(name: string): string {
    const folder = join(home, name)
    mkdirSync(folder, { mode: 0o700 })
    own(folder)
    return folder
  }

  function launch(program: string, args: readonly string[], folder: string): ChildProcess {
    const log = openSync(join(folder, 'log'), 'a')
    const child = spawn(program, args, {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, LC_ALL: 'C.UTF-8', TZ: 'UTC', ETCDCTL_API: '3' },
      // Ctrl-C in the terminal is for the suite; the guard decides when these go.
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
    own(home)
    const etcds = await makeEtcds(port, makeFolder)
    const startEtcd = (one: Etcd): void =>
      void launch(findProgram('etcd')!, etcdFlags(one, etcds), one.folder)
    etcds.forEach(startEtcd)
    await waitFor('etcd', home, async () => (await etcdLeader(etcds)) !== undefined)

    const passwords = { superuser: secret(), replication: secret() }
    const nodes: Node[] = []
    for (let index = 1; index <= nodeCount; index += 1) {
      const name = `node${index}`
      const folder = makeFolder(name)
      const [pgPort, restPort] = [await port(), await port()]
      const data = join(folder, 'data')
      const start = (): void => void launch(findProgram('patroni')!, ['patroni.yml'], folder)
      nodes.push({ name, folder, data, pgPort, restPort, start })
    }
    for (const node of nodes) {
      // JSON is YAML as well.
      const file = join(node.folder, 'patroni.yml')
      writeFileSync(file, JSON.stringify(patroniSettings(node, etcds, passwords, options)), { mode: 0o600 })
      own(file)
    }

    const door = await port()
    const doorFolder = makeFolder('haproxy')
    writeFileSync(join(doorFolder, 'haproxy.cfg'), haproxySettings(door, nodes))
    const url = `postgres://postgres:${passwords.superuser}@127.0.0.1:${door}/postgres`

    const leader = async (): Promise<Node> => {
      let found: Node | undefined
      await waitFor('a leader', home, async () => {
        const name = (await members(nodes)).find(({ role }) => role === 'leader')?.name
        found = nodes.find((node) => node.name === name)
        return found !== undefined
      })
      return found!
    }

    const whole = async (): Promise<Node> => {
      let found: Node | undefined
      await waitFor('three nodes, one of them leading', home, async () => {
        const all = await members(nodes)
        const leading = all.filter(({ role }) => role === 'leader')
        const synchronous = all.filter(({ role }) => role === 'sync_standby')
        const running = all.filter(
          ({ state, timeline }) => /^(running|streaming)$/.test(state) && timeline === leading[0]?.timeline,
        )
        if (leading.length !== 1 || running.length !== nodeCount) return false
        if (synchronous.length === 0 && !options.lossy) return false
        const node = nodes.find(({ name }) => name === leading[0]!.name)!
        if (!(await followedByAll(node, passwords.superuser))) return false
        found = node
        return (await portBehind(url)) === node.pgPort
      })
      return found!
    }

    // One after the other, so that the first one is the primary and the others are copied from it.
    nodes[0]!.start()
    await leader()
    for (const node of nodes.slice(1)) node.start()
    launch(findProgram('haproxy')!, ['-db', '-f', 'haproxy.cfg'], doorFolder)
    await whole()

    return {
      url,
      home,
      nodes,
      leader,
      whole,
      async switchOver(from) {
        const answer = await fetch(`http://127.0.0.1:${from.restPort}/switchover`, {
          method: 'POST',
          body: JSON.stringify({ leader: from.name }),
          signal: AbortSignal.timeout(60_000),
        })
        const said = await answer.text()
        if (!answer.ok) throw new Error(`Patroni refused the switchover: ${answer.status} ${said}`)
      },
      async killEtcdLeader() {
        const one = await etcdLeader(etcds)
        if (!one) throw new Error('etcd has no leader')
        strike(one.folder, 'SIGKILL')
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

async function makeEtcds(
  port: () => Promise<number>,
  makeFolder: (name: string) => string,
): Promise<readonly Etcd[]> {
  const etcds: Etcd[] = []
  for (let index = 1; index <= 3; index += 1) {
    const name = `etcd${index}`
    etcds.push({ name, folder: makeFolder(name), clientPort: await port(), peerPort: await port() })
  }
  return etcds
}

async function etcdLeader(etcds: readonly Etcd[]): Promise<Etcd | undefined> {
  for (const one of etcds) {
    try {
      const answer = await fetch(`http://127.0.0.1:${one.clientPort}/v3/maintenance/status`, {
        method: 'POST',
        body: '{}',
        signal: AbortSignal.timeout(2_000),
      })
      const { header, leader } = (await answer.json()) as { header?: { member_id: string }; leader?: string }
      if (leader !== undefined && leader === header?.member_id) return one
    } catch {
      // Not this one.
    }
  }
  return undefined
}

/** What whichever Patroni answers first knows of them all. */
async function members(nodes: readonly Node[]): Promise<readonly Member[]> {
  for (const { restPort } of nodes) {
    try {
      const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`, {
        signal: AbortSignal.timeout(2_000),
      })
      const { members: all } = (await answer.json()) as { members?: readonly Member[] }
      if (all) return all
    } catch {
      // Not this one.
    }
  }
  return []
}

/** Every commit that is acknowledged from here on has a standby to go to, and one more beside it. */
async function followedByAll(leader: Node, password: string): Promise<boolean> {
  const url = `postgres://postgres:${password}@127.0.0.1:${leader.pgPort}/postgres`
  const rows = await runSql(url, `SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'`).catch(
    () => [],
  )
  return rows.length === nodeCount - 1
}

async function portBehind(url: string): Promise<unknown> {
  const rows = await runSql(url, 'SELECT inet_server_port() AS port').catch(() => [])
  return rows[0]?.['port']
}

async function waitFor(what: string, home: string, isThere: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + patienceMs
  while (!(await isThere())) {
    if (performance.now() > giveUpAt) throw new Error(`never came about: ${what}\n${lastWords(home)}`)
    await sleep(200)
  }
}

/** The end of everybody's log. */
function lastWords(home: string): string {
  const logs = readdirSync(home).map((name) => {
    try {
      return `${name}: ${readFileSync(join(home, name, 'log'), 'utf8').slice(-1500)}`
    } catch {
      return name
    }
  })
  return logs.join('\n')
}
