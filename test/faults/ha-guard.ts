// Stops every process of the --ha cluster and removes its folder, however the suite ends.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ClusterGuard {
  /** Starts the cleanup and waits until it is complete. */
  release(): Promise<void>
}

/** Starts a process that reads a pipe, as in test/support/postgres.ts: the pipe closes even if this process is killed. */
export function startClusterGuard(home: string): ClusterGuard {
  const guard = spawn(process.execPath, [import.meta.filename, 'guard', home], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.stdin.on('error', () => undefined)
  guard.unref()
  return {
    async release() {
      guard.ref()
      const ended = guard.exitCode === null ? once(guard, 'exit') : undefined
      guard.stdin.end()
      await ended
    },
  }
}

/**
 * Processes whose working directory is this folder or below it. Patroni runs in its node's folder, PostgreSQL and its
 * children in the data folder below it, so processes that Patroni starts later are found too.
 */
function processesIn(folder: string): readonly number[] {
  return allProcesses().filter((pid) => {
    const directory = workingDirectory(pid)
    return directory === folder || directory?.startsWith(`${folder}/`)
  })
}

/** Sends a signal to all processes of a folder, including those that start meanwhile. */
export function signalAll(folder: string, name: NodeJS.Signals): void {
  const signalled = new Set<number>()
  for (;;) {
    const fresh = processesIn(folder).filter((pid) => !signalled.has(pid))
    if (fresh.length === 0) return
    for (const pid of fresh) {
      signalled.add(pid)
      // A stopped process cannot start children between the listing and the kill.
      if (name === 'SIGKILL') signal(pid, 'SIGSTOP')
    }
    for (const pid of fresh) signal(pid, name)
  }
}

function allProcesses(): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
}

function workingDirectory(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

/** The services run in the project's folder, so they are identified by their DATA_DIR. */
function servicesOf(home: string): readonly number[] {
  return allProcesses().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`DATA_DIR=${home}/`)
    } catch {
      return false
    }
  })
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already exited.
  }
}

interface Postmaster {
  readonly pid: number
  readonly isRunning: boolean
  /** Its System V shared memory segment, which remains after kill -9. */
  readonly segment: number
}

function postmasters(home: string): readonly Postmaster[] {
  return readdirSync(home).flatMap((node) => {
    try {
      const lines = readFileSync(join(home, node, 'data', 'postmaster.pid'), 'utf8').split('\n')
      const pid = Number(lines[0])
      const segment = Number(lines[6]?.trim().split(/\s+/)[1])
      return [{ pid, segment, isRunning: processesIn(join(home, node)).includes(pid) }]
    } catch {
      return []
    }
  })
}

function removeSegment(id: number): void {
  try {
    if (id > 0) execFileSync('ipcrm', ['-m', String(id)], { stdio: 'ignore' })
  } catch {
    // 56 bytes remain allocated until the next reboot.
  }
}

async function runGuard(home: string): Promise<void> {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)
  process.stdin.resume()
  await once(process.stdin, 'close')
  for (const pid of servicesOf(home)) signal(pid, 'SIGKILL')
  const servers = postmasters(home)
  const inData = (pid: number): boolean =>
    /\/data(\/|$)/.test(workingDirectory(pid)?.slice(home.length) ?? '')
  for (const pid of processesIn(home)) if (!inData(pid)) signal(pid, 'SIGKILL')
  // SIGQUIT is PostgreSQL's immediate shutdown: it removes the shared memory.
  signalAll(home, 'SIGCONT')
  for (const { pid, isRunning } of servers) if (isRunning) signal(pid, 'SIGQUIT')
  for (let waited = 0; waited < 10_000 && processesIn(home).length > 0; waited += 50) await sleep(50)
  signalAll(home, 'SIGKILL')
  for (const { isRunning, segment } of servers) if (!isRunning) removeSegment(segment)
  await rm(home, { recursive: true, force: true, maxRetries: 5 })
}

const [, , role, guarded] = process.argv
if (import.meta.main && role === 'guard' && guarded !== undefined) await runGuard(guarded)
