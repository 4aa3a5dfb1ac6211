// Ends everything that the stack of --ha has started, however the suite itself ends, and removes its folder.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Guard {
  /** Lets the guard clean up now, and waits until it has. */
  release(): Promise<void>
}

/** A process at the other end of a pipe, as in test/support/postgres.ts: the pipe closes even when we are killed. */
export function startGuard(home: string): Guard {
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
 * Who works in this folder. Patroni stands in its node's folder, PostgreSQL with all its children in the data folder beneath:
 * so nobody is missed whom Patroni has started meanwhile.
 */
export function processesIn(folder: string): readonly number[] {
  return everyProcess().filter((pid) => {
    const where = workingFolder(pid)
    return where === folder || where?.startsWith(`${folder}/`)
  })
}

/** The signal for everybody there, also for those who are being started just now. */
export function strike(folder: string, name: NodeJS.Signals): void {
  const struck = new Set<number>()
  for (;;) {
    const fresh = processesIn(folder).filter((pid) => !struck.has(pid))
    if (fresh.length === 0) return
    for (const pid of fresh) {
      struck.add(pid)
      // Whoever stands still starts nobody between the listing and the kill.
      if (name === 'SIGKILL') signal(pid, 'SIGSTOP')
    }
    for (const pid of fresh) signal(pid, name)
  }
}

function everyProcess(): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

/** The services work in the project's folder; they are known by the data folder they were given. */
function servicesOf(home: string): readonly number[] {
  return everyProcess().filter((pid) => {
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
    // It is gone already.
  }
}

interface Postmaster {
  readonly pid: number
  readonly runs: boolean
  /** Its System V segment, which outlives a kill -9. */
  readonly segment: number
}

function postmasters(home: string): readonly Postmaster[] {
  return readdirSync(home).flatMap((node) => {
    try {
      const lines = readFileSync(join(home, node, 'data', 'postmaster.pid'), 'utf8').split('\n')
      const pid = Number(lines[0])
      const segment = Number(lines[6]?.trim().split(/\s+/)[1])
      return [{ pid, segment, runs: processesIn(join(home, node)).includes(pid) }]
    } catch {
      return []
    }
  })
}

function removeSegment(id: number): void {
  try {
    if (id > 0) execFileSync('ipcrm', ['-m', String(id)], { stdio: 'ignore' })
  } catch {
    // 56 bytes stay behind until the machine starts again.
  }
}

async function standGuard(home: string): Promise<void> {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)
  process.stdin.resume()
  await once(process.stdin, 'close')
  for (const pid of servicesOf(home)) signal(pid, 'SIGKILL')
  const servers = postmasters(home)
  const inData = (pid: number): boolean => /\/data(\/|$)/.test(workingFolder(pid)?.slice(home.length) ?? '')
  for (const pid of processesIn(home)) if (!inData(pid)) signal(pid, 'SIGKILL')
  // SIGQUIT is PostgreSQL's immediate shutdown: it takes its shared memory along.
  strike(home, 'SIGCONT')
  for (const { pid, runs } of servers) if (runs) signal(pid, 'SIGQUIT')
  for (let waited = 0; waited < 10_000 && processesIn(home).length > 0; waited += 50) await sleep(50)
  strike(home, 'SIGKILL')
  for (const { runs, segment } of servers) if (!runs) removeSegment(segment)
  await rm(home, { recursive: true, force: true, maxRetries: 5 })
}

const [, , role, guarded] = process.argv
if (import.meta.main && role === 'guard' && guarded !== undefined) await standGuard(guarded)
