// Finds the Debian packages of --ha, and builds the settings of etcd, Patroni and HAProxy.
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The leader's lease and Patroni's loop interval: the shortest values that Patroni allows. */
export const leaderLeaseS = 20
const loopS = 2
const retryS = 5

export interface StackOptions {
  /** Asynchronous replication and commits that are acknowledged before they are written: loses data on purpose. */
  readonly lossy: boolean
}

export interface PatroniNode {
  readonly name: string
  readonly folder: string
  readonly data: string
  readonly pgPort: number
  readonly restPort: number
  /** Starts its Patroni. */
  start(): void
}

export interface Etcd {
  readonly name: string
  readonly folder: string
  readonly clientPort: number
  readonly peerPort: number
}

const folders = (process.env['PATH'] ?? '').split(delimiter)

export function findProgram(name: string): string | undefined {
  return [...folders, '/usr/sbin', '/usr/bin'].map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Debian installs several versions next to each other; returns the newest. */
function postgresFolder(): string | undefined {
  const parent = '/usr/lib/postgresql'
  if (!existsSync(parent)) return undefined
  const versions = readdirSync(parent).map(Number).filter(Number.isInteger)
  return versions
    .toSorted((one, other) => other - one)
    .map((version) => join(parent, String(version), 'bin'))
    .find((folder) => isExecutable(join(folder, 'postgres')) && isExecutable(join(folder, 'pg_rewind')))
}

/** One line with the missing packages; undefined if all are installed. */
export function missingPackages(): string | undefined {
  if (process.platform !== 'linux') return '--ha needs Linux with Debian packages'
  const required = [
    ['patroni', findProgram('patroni')],
    ['etcd-server', findProgram('etcd')],
    // Patroni supports several stores, so its package does not depend on this one.
    ['python3-etcd', existsSync('/usr/lib/python3/dist-packages/etcd/__init__.py') || undefined],
    ['haproxy', findProgram('haproxy')],
    ['postgresql', postgresFolder()],
  ] as const
  const missing = required.filter(([, found]) => found === undefined).map(([name]) => name)
  if (missing.length === 0) return undefined
  return `请先安装 / install first: apt-get install --no-install-recommends ${missing.join(' ')}`
}

export function etcdFlags(one: Etcd, all: readonly Etcd[]): readonly string[] {
  const peer = `http://127.0.0.1:${one.peerPort}`
  const client = `http://127.0.0.1:${one.clientPort}`
  return [
    ...['--name', one.name, '--data-dir', join(one.folder, 'members')],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    '--initial-cluster',
    all.map(({ name, peerPort }) => `${name}=http://127.0.0.1:${peerPort}`).join(','),
    ...['--initial-cluster-state', 'new', '--logger', 'zap'],
    // Three members share one disk, so they need longer intervals than the defaults.
    ...['--heartbeat-interval', '200', '--election-timeout', '2000'],
    '--enable-v2',
  ]
}

export function patroniSettings(
  node: PatroniNode,
  etcds: readonly Etcd[],
  passwords: { readonly superuser: string; readonly replication: string },
  { lossy }: StackOptions,
): object {
  const parameters = {
    max_connections: 100,
    shared_buffers: '32MB',
    wal_log_hints: 'on',
    max_wal_size: '256MB',
    // A standby reconnects after one second, not five: no commit is acknowledged before one has reconnected.
    wal_retrieve_retry_interval: '1s',
    ...(lossy ? { synchronous_commit: 'off', wal_writer_delay: '5s' } : {}),
  }
  return {
    scope: 'tollgate',
    name: node.name,
    restapi: { listen: `127.0.0.1:${node.restPort}`, connect_address: `127.0.0.1:${node.restPort}` },
    // With version 3 of the protocol, the key cache of Patroni 3.0.2 sometimes misses a change: then Patroni names no
    // synchronous standby any more, and the nodes disagree about which one may take over.
    etcd: { hosts: etcds.map(({ clientPort }) => `127.0.0.1:${clientPort}`) },
    bootstrap: {
      dcs: {
        ttl: leaderLeaseS,
        loop_wait: loopS,
        retry_timeout: retryS,
        maximum_lag_on_failover: 1_048_576,
        synchronous_mode: !lossy,
        // Strict: no commit is acknowledged before a standby has it on disk.
        synchronous_mode_strict: !lossy,
        postgresql: { use_pg_rewind: true, use_slots: true, parameters },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, { 'auth-host': 'scram-sha-256' }],
      pg_hba: [
        'host replication replicator 127.0.0.1/32 scram-sha-256',
        'host all all 127.0.0.1/32 scram-sha-256',
      ],
    },
    postgresql: {
      listen: `127.0.0.1:${node.pgPort}`,
      connect_address: `127.0.0.1:${node.pgPort}`,
      data_dir: node.data,
      bin_dir: postgresFolder(),
      pgpass: join(node.folder, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password: passwords.superuser },
        replication: { username: 'replicator', password: passwords.replication },
      },
      parameters: { unix_socket_directories: node.folder },
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  }
}

/** As in Patroni's documentation. Connections to a node close as soon as it no longer reports that it is the primary. */
export function haproxySettings(port: number, nodes: readonly PatroniNode[]): string {
  const servers = nodes.map(
    ({ name, pgPort, restPort }) => `  server ${name} 127.0.0.1:${pgPort} maxconn 90 check port ${restPort}`,
  )
  return `global
  maxconn 400
defaults
  mode tcp
  retries 2
  timeout connect 2s
  timeout check 2s
  timeout client 30m
  timeout server 30m
listen postgres
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`
}
