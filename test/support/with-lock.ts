// A lock between the processes of the test files.
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An older lock belongs to a process that died. */
const maxAgeMs = 120_000

export async function withLock<T>(name: string, job: () => Promise<T>): Promise<T> {
  const lock = join(tmpdir(), `tollgate-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`)
  while (!acquire(lock)) await new Promise((resolve) => setTimeout(resolve, 100))
  try {
    return await job()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/** mkdir succeeds in only one process. */
function acquire(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    const stats = statSync(lock, { throwIfNoEntry: false })
    if (stats && Date.now() - stats.mtimeMs > maxAgeMs) rmSync(lock, { recursive: true, force: true })
    return false
  }
}
