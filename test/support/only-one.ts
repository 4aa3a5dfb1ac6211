// Test files run as processes of their own: what must not happen twice at once is done under a lock between them.
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A lock older than this was left behind by a process that died. */
const longestMs = 120_000

export async function onlyOne<T>(name: string, job: () => Promise<T>): Promise<T> {
  const lock = join(tmpdir(), `tollgate-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`)
  while (!take(lock)) await new Promise((resolve) => setTimeout(resolve, 100))
  try {
    return await job()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/** A folder is made by one process only. */
function take(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    const made = statSync(lock, { throwIfNoEntry: false })
    if (made && Date.now() - made.mtimeMs > longestMs) rmSync(lock, { recursive: true, force: true })
    return false
  }
}
