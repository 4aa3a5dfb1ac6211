// Finds and kills the processes of a PostgreSQL server.
import { readdirSync, readFileSync } from 'node:fs'

/** Kills a PostgreSQL server. Backends leave its process group, so each one is found and killed. Returns their ids. */
export function killTree(postmaster: number): readonly number[] {
  // A stopped postmaster cannot start a backend between the listing and the kill.
  if (process.platform !== 'win32') signal(postmaster, 'SIGSTOP')
  const children = childrenOf(postmaster)
  for (const pid of [postmaster, ...children]) signal(pid, 'SIGKILL')
  return children
}

function childrenOf(parent: number): readonly number[] {
  // Without /proc (macOS, Windows) the children end when they detect that the postmaster is gone.
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && processState(pid)?.parent === parent)
}

function processState(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name is in parentheses and may contain parentheses: read after the last one.
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}

export function isAlive(pid: number): boolean {
  if (!signal(pid, 0)) return false
  // In a container without an init process orphans are not reaped, and a zombie accepts signal 0.
  return process.platform !== 'linux' || !/[ZX]/.test(processState(pid)?.state ?? 'X')
}

/** False when there is no such process. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
