// Starts PgBouncer in front of a PostgreSQL server.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, serverUser } from './postgres.ts'

export interface PgBouncer extends AsyncDisposable {
  readonly url: string
}

/** Debian installs it where only root's PATH looks. PGBOUNCER names another one. */
const program = [
  process.env['PGBOUNCER'] ?? '/usr/sbin/pgbouncer',
  '/usr/local/bin/pgbouncer',
  'pgbouncer',
].find(canRun)

function canRun(path: string): boolean {
  try {
    execFileSync(path, ['--version'], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

/** The version, `[1, 18]`, or undefined when PgBouncer is not installed. */
export function pgbouncerVersion(): readonly [number, number] | undefined {
  if (program === undefined) return undefined
  const match = /PgBouncer (\d+)\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))
  return match ? [Number(match[1]), Number(match[2])] : undefined
}

export async function startPgBouncer(
  target: string,
  mode: 'session' | 'transaction',
  more: Readonly<Record<string, string>> = {},
): Promise<PgBouncer> {
  const url = new URL(target)
  const folder = mkdtempSync('/tmp/tollgate-pgbouncer-')
  const port = await freePort()
  const user = serverUser()
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: '60',
    max_client_conn: '200',
    ...more,
  }
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    [
      '[databases]',
      `${url.pathname.slice(1)} = host=${url.hostname} port=${url.port} user=${url.username || 'postgres'}`,
      '[pgbouncer]',
      ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
      '',
    ].join('\n'),
  )
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid ?? user.uid)
  chmodSync(folder, 0o755)
  const child = spawn(program ?? 'pgbouncer', [file], { stdio: ['ignore', 'ignore', 'pipe'], ...user })
  let output = ''
  child.stderr.on('data', (data: Buffer) => (output += data.toString()))
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer did not start: ${output}`)
    await sleep(20)
  }
  url.port = String(port)
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
