// The own link domains of accounts.
import { minuteMs } from '../../../contract/time.ts'
import { countRows } from '../../db/count-rows.ts'
import type { Database, Queries, Tx } from '../../db/database.ts'
import { forUpdate } from '../../db/dialect.ts'
import { rowsPerSlice, writeInSlices } from '../../db/slices.ts'
import type { Tables } from '../../db/schema.ts'

export type OwnDomainRow = Readonly<Tables['link_own_domain']>

export type ListedOwnDomain = OwnDomainRow & Readonly<Pick<Tables['account'], 'username'>>

const names = [
  'id',
  'account_id',
  'host',
  'token',
  'verified_at',
  'checked_at',
  'missing_since',
  'blocked',
  'blocked_at',
  'added_at',
]
const columns = names.map((name) => `d.${name}`).join(', ')
const listedColumns = `${columns}, a.username FROM link_own_domain d JOIN account a ON a.id = d.account_id`

export function listOwnDomains(queries: Queries, accountId: number): Promise<OwnDomainRow[]> {
  return queries.all<OwnDomainRow>(
    `SELECT ${columns} FROM link_own_domain d WHERE d.account_id = ? ORDER BY d.host`,
    [accountId],
  )
}

/** Of all accounts. */
export function listAllOwnDomains(queries: Queries, limit: number): Promise<ListedOwnDomain[]> {
  return queries.all<ListedOwnDomain>(`SELECT ${listedColumns} ORDER BY d.host, d.id LIMIT ?`, [limit])
}

/** Every account's claim of the host. */
export function listClaims(queries: Queries, host: string): Promise<ListedOwnDomain[]> {
  return queries.all<ListedOwnDomain>(`SELECT ${listedColumns} WHERE d.host = ? ORDER BY d.id LIMIT 1000`, [
    host,
  ])
}

export function findOwnDomain(
  queries: Queries,
  accountId: number,
  id: number,
): Promise<OwnDomainRow | undefined> {
  return queries.one<OwnDomainRow>(
    `SELECT ${columns} FROM link_own_domain d WHERE d.id = ? AND d.account_id = ?`,
    [id, accountId],
  )
}

export async function findVerifiedOwner(queries: Queries, host: string): Promise<number | undefined> {
  const row = await queries.one<Pick<OwnDomainRow, 'account_id'>>(
    'SELECT account_id FROM link_own_domain WHERE host = ? AND verified_at IS NOT NULL',
    [host],
  )
  return row?.account_id
}

export function countOwnDomains(queries: Queries, accountId: number): Promise<number> {
  return countRows(queries, 'link_own_domain WHERE account_id = ?', [accountId])
}

/** Keeps the token of an existing claim, so that a published record stays valid. */
export async function insertOwnDomain(
  tx: Tx,
  domain: Pick<OwnDomainRow, 'account_id' | 'host' | 'token'>,
): Promise<OwnDomainRow> {
  await tx.run(
    `INSERT INTO link_own_domain (account_id, host, token, added_at) VALUES (?, ?, ?, ${tx.now})
     ON CONFLICT (account_id, host) DO NOTHING`,
    [domain.account_id, domain.host, domain.token],
  )
  const row = await tx.one<OwnDomainRow>(
    `SELECT ${columns} FROM link_own_domain d WHERE d.account_id = ? AND d.host = ?`,
    [domain.account_id, domain.host],
  )
  return row!
}

/** Returns false when another account has verified the host meanwhile, or the claim was removed. */
export async function markVerified(
  tx: Tx,
  { id, host }: Pick<OwnDomainRow, 'id' | 'host'>,
): Promise<boolean> {
  // Two accounts at the same moment: the second one waits here and then sees the first.
  await tx.all(`SELECT id FROM link_own_domain WHERE host = ? ORDER BY id${forUpdate(tx)}`, [host])
  const changed = await tx.run(
    `UPDATE link_own_domain SET verified_at = COALESCE(verified_at, ${tx.now}), checked_at = ${tx.now},
       missing_since = NULL
     WHERE id = ? AND NOT EXISTS
       (SELECT 1 FROM link_own_domain o WHERE o.host = ? AND o.verified_at IS NOT NULL AND o.id <> ?)`,
    [id, host, id],
  )
  return changed === 1
}

/** Returns whether the domain has lost its verification. */
export async function recordMissing(tx: Tx, id: number, missingMs: number): Promise<boolean> {
  await tx.run(
    `UPDATE link_own_domain SET checked_at = ${tx.now}, missing_since = CASE WHEN missing_since <= ${tx.now} THEN missing_since ELSE ${tx.now} END
     WHERE id = ? AND verified_at IS NOT NULL`,
    [id],
  )
  const changed = await tx.run(
    `UPDATE link_own_domain SET verified_at = NULL, missing_since = NULL
     WHERE id = ? AND verified_at IS NOT NULL AND missing_since <= ${tx.now} - CAST(? AS bigint)`,
    [id, missingMs],
  )
  return changed === 1
}

/** Verified domains whose last check is older, or from before the clock was set back; each is claimed by one process. */
export async function claimRechecks(tx: Tx, everyMs: number, limit: number): Promise<OwnDomainRow[]> {
  const due = `(checked_at <= ${tx.now} - CAST(? AS bigint) OR checked_at > ${tx.now} + ${minuteMs})`
  return tx.all<OwnDomainRow>(
    `UPDATE link_own_domain SET checked_at = ${tx.now}
     WHERE id IN (SELECT id FROM link_own_domain WHERE verified_at IS NOT NULL AND ${due} ORDER BY checked_at LIMIT ?)
       AND ${due} RETURNING ${names.join(', ')}`,
    [everyMs, limit, everyMs],
  )
}

/** Of one account, or of all. Returns the number of removed claims. */
export function deleteOwnDomains(tx: Tx, host: string, accountId: number | undefined): Promise<number> {
  return accountId === undefined
    ? tx.run('DELETE FROM link_own_domain WHERE host = ?', [host])
    : tx.run('DELETE FROM link_own_domain WHERE host = ? AND account_id = ?', [host, accountId])
}

/** Of a domain that was verified, the last check counts: its account has as much time to publish the record again. */
export function deleteUnverified(db: Database, keepMs: number, signal: AbortSignal): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const deleted = await tx.run(
        `DELETE FROM link_own_domain WHERE id IN (SELECT id FROM link_own_domain
           WHERE verified_at IS NULL AND COALESCE(checked_at, added_at) <= ${tx.now} - CAST(? AS bigint)
           ORDER BY id LIMIT ?)`,
        [keepMs, rowsPerSlice],
      )
      return deleted === rowsPerSlice
    },
    signal,
  )
}

export async function listVerifiedHosts(queries: Queries): Promise<string[]> {
  const rows = await queries.all<Pick<OwnDomainRow, 'host'>>(
    'SELECT host FROM link_own_domain WHERE verified_at IS NOT NULL',
  )
  return rows.map(({ host }) => host)
}

/** Returns the account when the state changed. */
export async function markOwnDomainBlocked(
  tx: Tx,
  host: string,
  blocked: boolean,
): Promise<number | undefined> {
  const flag = blocked ? 1 : 0
  const row = await tx.one<Pick<OwnDomainRow, 'account_id'>>(
    `UPDATE link_own_domain SET blocked = ?, blocked_at = CASE WHEN ? = 1 THEN ${tx.now} ELSE NULL END
     WHERE host = ? AND verified_at IS NOT NULL AND blocked <> ? RETURNING account_id`,
    [flag, flag, host, flag],
  )
  return row?.account_id
}
