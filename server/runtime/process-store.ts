// The running processes of the service, each with a row that it renews: a restore must not replace their data.
import { randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import project from '../../package.json' with { type: 'json' }
import type { Database, Queries } from '../db/database.ts'
import { lock } from '../db/dialect.ts'
import { migrationLock } from '../db/migrate.ts'
import type { Tables } from '../db/schema.ts'

const renewMs = 5_000

/** A process that was killed on another machine counts this long. */
export const processTimeoutMs = 3 * renewMs

export interface ProcessEntry {
  readonly renewMs: number
  renew(): Promise<void>
  remove(): Promise<void>
}

/** To be awaited before the process reads anything that it keeps: until then a restore may replace the data. */
export async function registerProcess(db: Database, connections: number): Promise<ProcessEntry> {
  const id = `${machineName()} ${process.pid} ${randomUUID()}`
  const renew = (isFirst = false) =>
    db.write(async (tx) => {
      // A restore in progress holds the lock.
      if (isFirst) await lock(tx, migrationLock)
      await tx.run(
        `INSERT INTO service_process (id, version, connections, seen_at) VALUES (?, ?, ?, ${tx.now})
         ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
        [id, project.version, connections],
      )
      await tx.run(`DELETE FROM service_process WHERE seen_at < ${tx.now} - ?`, [100 * processTimeoutMs])
    })
  await renew(true)
  return {
    renewMs,
    renew: () => renew(),
    remove: () =>
      db.write(async (tx) => void (await tx.run('DELETE FROM service_process WHERE id = ?', [id]))),
  }
}

export type RunningProcess = Pick<Tables['service_process'], 'id' | 'version' | 'connections'>

/** Without those that were killed: on this machine immediately, on others after `processTimeoutMs`. */
export async function listProcesses(queries: Queries): Promise<RunningProcess[]> {
  const rows = await queries.all<RunningProcess>(
    `SELECT id, version, connections FROM service_process WHERE seen_at > ${queries.now} - ? ORDER BY id`,
    [processTimeoutMs],
  )
  return rows.filter(({ id }) => {
    const [machine, pid] = id.split(' ')
    return machine !== machineName() || isAlive(Number(pid))
  })
}

/** The host and, on Linux, its namespace of process ids: a container has its own. */
function machineName(): string {
  let namespace = ''
  try {
    namespace = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Not Linux.
  }
  return `${hostname()}/${namespace}`.replaceAll(' ', '_')
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process of another user exists too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
