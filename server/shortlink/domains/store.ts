// The two pools of link domains.
import type { Queries, Tx } from '../../db/database.ts'
import type { Pool } from '../store.ts'

export interface PoolDomain {
  readonly host: string
  readonly pool: Pool
  /** Gets no new links, and goes on serving the old ones. */
  readonly removed: number
  /** Found blocked by the domain block check: no new links either. */
  readonly blocked: number
  readonly blocked_at: number | null
  readonly added_at: number
}

/** As the operator sees it. */
export interface ListedDomain extends PoolDomain {
  readonly id: number
  /** When it was last looked at, and whether that brought no verdict. */
  readonly probed_at: number | null
  readonly probe_failed: number
}

const listed = 'id, host, pool, removed, blocked, blocked_at, added_at, probed_at, probe_failed'

/** Those that get new links, unless blocked. */
export function findDomains(queries: Queries): Promise<ListedDomain[]> {
  return queries.all<ListedDomain>(`SELECT ${listed} FROM link_domain WHERE removed = 0 ORDER BY pool, host`)
}

export function findDomain(queries: Queries, id: number): Promise<ListedDomain | undefined> {
  return queries.one<ListedDomain>(`SELECT ${listed} FROM link_domain WHERE id = ? AND removed = 0`, [id])
}

/** A look that brought no verdict leaves the last one as it is. */
export async function noteProbe(tx: Tx, host: string, failed: boolean): Promise<void> {
  await tx.run(`UPDATE link_domain SET probed_at = ${tx.now}, probe_failed = ? WHERE host = ?`, [
    failed ? 1 : 0,
    host,
  ])
}

export type Added = 'added' | 'other_pool'

/** A host belongs to one pool for good: links in the world say which of their two addresses it stands for. */
export async function addDomain(tx: Tx, pool: Pool, host: string): Promise<Added> {
  const row = await tx.one<{ pool: Pool }>(
    `INSERT INTO link_domain (host, pool, added_at) VALUES (?, ?, ${tx.now})
     ON CONFLICT (host) DO UPDATE SET removed = CASE WHEN link_domain.pool = excluded.pool THEN 0
       ELSE link_domain.removed END RETURNING pool`,
    [host, pool],
  )
  return row?.pool === pool ? 'added' : 'other_pool'
}

/** False when it is not in the pool. */
export async function removeDomain(tx: Tx, pool: Pool, host: string): Promise<boolean> {
  const changed = await tx.run(
    'UPDATE link_domain SET removed = 1 WHERE host = ? AND pool = ? AND removed = 0',
    [host, pool],
  )
  return changed === 1
}

/** Tells whether this is news. */
export async function markDomainBlocked(tx: Tx, host: string, blocked: boolean): Promise<boolean> {
  const wanted = blocked ? 1 : 0
  const changed = await tx.run(
    `UPDATE link_domain SET blocked = ?, blocked_at = CASE WHEN ? = 1 THEN ${tx.now} ELSE NULL END
     WHERE host = ? AND blocked <> ?`,
    [wanted, wanted, host, wanted],
  )
  return changed === 1
}
