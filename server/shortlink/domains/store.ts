// The link domains of both pools.
import type { Queries, Tx } from '../../db/database.ts'
import type { Tables } from '../../db/schema.ts'
import type { DomainPool } from '../store.ts'

/** Removed and blocked domains get no new links, but continue to serve the existing ones. */
export type PoolDomainRow = Readonly<Omit<Tables['link_domain'], 'id' | 'probed_at' | 'probe_failed'>>

export type ListedDomain = Readonly<Tables['link_domain']>

const listedColumns = 'id, host, pool, removed, blocked, blocked_at, added_at, probed_at, probe_failed'

/** Without the removed ones. */
export function listDomains(queries: Queries): Promise<ListedDomain[]> {
  return queries.all<ListedDomain>(
    `SELECT ${listedColumns} FROM link_domain WHERE removed = 0 ORDER BY pool, host`,
  )
}

export function findDomain(queries: Queries, id: number): Promise<ListedDomain | undefined> {
  return queries.one<ListedDomain>(`SELECT ${listedColumns} FROM link_domain WHERE id = ? AND removed = 0`, [
    id,
  ])
}

/** A failed check does not change the last verdict. */
export async function recordProbe(tx: Tx, host: string, failed: boolean): Promise<void> {
  await tx.run(`UPDATE link_domain SET probed_at = ${tx.now}, probe_failed = ? WHERE host = ?`, [
    failed ? 1 : 0,
    host,
  ])
}

/** A host never changes its pool: it decides which of the two addresses of a link is meant. */
export async function insertDomain(tx: Tx, pool: DomainPool, host: string): Promise<'added' | 'other_pool'> {
  const row = await tx.one<Pick<Tables['link_domain'], 'pool'>>(
    `INSERT INTO link_domain (host, pool, added_at) VALUES (?, ?, ${tx.now})
     ON CONFLICT (host) DO UPDATE SET removed = CASE WHEN link_domain.pool = excluded.pool THEN 0
       ELSE link_domain.removed END RETURNING pool`,
    [host, pool],
  )
  return row?.pool === pool ? 'added' : 'other_pool'
}

/** Returns false when the pool does not have the host. */
export async function removeDomain(tx: Tx, pool: DomainPool, host: string): Promise<boolean> {
  const changed = await tx.run(
    'UPDATE link_domain SET removed = 1 WHERE host = ? AND pool = ? AND removed = 0',
    [host, pool],
  )
  return changed === 1
}

/** Returns whether the state changed. */
export async function markDomainBlocked(tx: Tx, host: string, blocked: boolean): Promise<boolean> {
  const flag = blocked ? 1 : 0
  const changed = await tx.run(
    `UPDATE link_domain SET blocked = ?, blocked_at = CASE WHEN ? = 1 THEN ${tx.now} ELSE NULL END
     WHERE host = ? AND blocked <> ?`,
    [flag, flag, host, flag],
  )
  return changed === 1
}

/** Removed hosts still serve links. */
export async function isPoolHost(queries: Queries, host: string): Promise<boolean> {
  return (await queries.one('SELECT host FROM link_domain WHERE host = ?', [host])) !== undefined
}
